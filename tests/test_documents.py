"""The docs: each block of code is run by a test or says why not, and each command and picture in them is there."""

import contextlib
import importlib
import io
import os
import pkgutil
import re
import shlex
import shutil
import socket
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from makers import documented, terminal
from makers.documented import DOCS, ROOT
from makers.pages import leave_out_drawing
from makers.public_api import RECORD, expanded

# Pages that are run from their first block to their last, in one folder, and that show what is printed.
WALKED = [
    ROOT / "README.md",
    ROOT / "README.ja.md",
    DOCS / "index.md",
    DOCS / "start.md",
    *sorted((DOCS / "guides").glob("*.md")),
    *sorted((DOCS / "ja").glob("*.md")),
]
# Pages whose blocks run on small files of the names that the pages take for those of their readers.
NAMES = ["building", "checklists", "discernment", "discernment_rules", "english", "generation", "ngram_engine"]
READ = [DOCS / f"{name}.md" for name in (*NAMES, "reference/index", "references", "scale", "score_tables", "selection")]
# What blocks have in place of their numbers where they are run in part.
FEWER = {
    "--trials 3000": "--trials 400",
    "--trials 100\n": "--trials 2\n",
    "keep = 1000": "keep = 250",
    "size = 200": "size = 40",
    "range(100_000)": "range(1_000)",
    "--trials 1000": "--trials 400",
}


@pytest.fixture
def folder(tmp_path, monkeypatch, whole):
    """A folder in which the steps of a page can be followed: examples, and the command in the path."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    programs = tmp_path / ".programs"
    programs.mkdir()
    for name, program in {"pfgen-fast": "-m pfgen_fast", "python": ""}.items():
        (programs / name).write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} {program} "$@"\n')
        (programs / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setenv("PFGEN_FAST_HOME", str(tmp_path / ".home"))
    monkeypatch.chdir(tmp_path)
    if not whole:
        leave_out_drawing(monkeypatch)
    sys.modules.pop("mine", None)  # of another page or test
    yield tmp_path
    sys.modules.pop("mine", None)


def fewer(text: str) -> str:
    for many, few in FEWER.items():
        text = text.replace(many, few)
    return text


def run_shell(block: str, whole: bool) -> str:
    return terminal.run_in_bash(block) if whole else terminal.run_here(fewer(block))


def run_python(code: str, place: str, names: dict[str, object]) -> str:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(code, place, "exec"), names)
    return out.getvalue()


def lines_of(text: str) -> list[str]:
    return [" ".join(line.split()) for line in text.splitlines() if line.strip()]


def check_shown(shown: str, printed: str, place: str) -> None:
    """The lines that a page shows are among those printed, in this order; `...` stands for any."""
    rest = iter(lines_of(printed))
    for line in lines_of(shown):
        assert line == "..." or any(line == other or line in other for other in rest), f"{place}: {line!r}\n{printed}"


SLOWER = {f"{name}.md" for name in ("gates", "model_developer", "models_that_reason", "researcher", "suite_author")}
"""Guides whose commands have quick tests of their own, and which run before a change lands."""


def is_quick(page: Path) -> bool:
    """Whether a page needs no server, and its code is not that of an English page (test_translation.py)."""
    return page.name not in ("judge_long_text.md", "people.md", "README.ja.md") and page.parent.name != "ja"


def whole_mark(page: Path) -> pytest.MarkDecorator:
    """Before a change lands, only those pages run whole that do not run in part."""
    return pytest.mark.nightly if is_quick(page) or "ja" in (page.parent.name, page.stem[-2:]) else pytest.mark.slow


@pytest.mark.parametrize(
    ("page", "whole"),
    [
        *(
            pytest.param(
                page, False, id=page.relative_to(ROOT).as_posix(), marks=[pytest.mark.slow] * (page.name in SLOWER)
            )
            for page in WALKED
            if is_quick(page)
        ),
        *(pytest.param(page, True, id=f"{page.relative_to(ROOT)}, whole", marks=whole_mark(page)) for page in WALKED),
    ],
)
def test_a_page_runs_from_top_to_bottom_and_prints_what_it_shows(folder, page, whole):
    """Whole: as it stands, in bash, each command a separate process; otherwise commands run in this process."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    names: dict[str, object] = {"__name__": "__main__"}
    printed = None
    for block in documented.blocks(page):
        code = block.code.replace("8765", port)
        if block.reason:
            printed = None
        elif block.language == "sh":
            printed = run_shell(code, whole)
        elif block.language == "python":
            printed = run_python(code, block.place, names)
        elif block.language == "text":
            assert printed is not None, f"{block.place}: nothing printed this"
            check_shown(code, printed, block.place)


@pytest.mark.slow
@pytest.mark.parametrize("whole", [False, pytest.param(True, marks=pytest.mark.nightly)])
@pytest.mark.parametrize("page", READ, ids=lambda page: page.stem)
def test_the_blocks_of_a_page_run_on_the_files_of_a_reader(folder, monkeypatch, page, whole):
    """Their own tests say what examples give; here they run as they stand, Python each block for itself."""
    monkeypatch.setattr(sys, "stdin", io.StringIO('{"row": 0, "text": "Ice floats."}\n'))
    answers = Path("examples/demo_answers.jsonl").read_text(encoding="utf-8").replace("careful", "llama")
    answers = re.sub(r'"model": ("\w+")', r'\g<0>, "family": \1', answers)
    scores = [f"{model},{item},{item % 3 % 2},{item % 2}" for model in ("new", "old") for item in range(9)]
    scores = "\n".join(["model,item,accuracy,subject", *scores])
    files = {"answers.jsonl": answers, "in/part.jsonl": answers, "scores.csv": scores, "leaderboard.csv": scores}
    files["new.csv"] = "\n".join(["model,item,accuracy", *(f"newest,{item},1" for item in range(9))])
    files["my.csv"] = "answer,references\nIce floats.,Ice floats on water."
    Path("in").mkdir()
    for name, text in files.items():
        Path(name).write_text(text, encoding="utf-8")
    for block in documented.blocks(page):
        code = block.code if whole else fewer(block.code)
        if code.startswith("suite ="):
            Path("my-suite.toml").write_text(code, encoding="utf-8")
        elif block.language == "sh" and not block.reason:
            run_shell(code, whole or " prompts " in code)  # which writes bytes
        elif block.language == "python" and not block.reason and not documented.tests_that_run(block):
            run_python(code, block.place, {"answers": [f"{n} {n * n % 97} {n % 7}" for n in range(2000)]})


def test_every_block_of_the_other_pages_is_run_by_a_test_or_says_why_not():
    listed = [
        block
        for page in {*documented.pages()} - {*WALKED, *READ}
        for block in documented.blocks(page)
        if block.language in ("sh", "python")
        if not all(line.startswith(terminal.LEFT_OUT) for line in block.code.splitlines())
    ]
    assert len(listed) >= 30
    assert not [block.place for block in listed if not block.reason and not documented.tests_that_run(block)]


def test_only_known_languages_are_between_fences():
    """What is run is found by its language, so a block with another one, or with none, would be passed over."""
    for page in documented.pages():
        for block in documented.blocks(page):
            assert block.language in {"python", "sh", "text", "toml", "yaml", "json", "sql"}, block.place
        bare = re.findall(r"^ {4,}(?:pfgen-fast|pip|python3?|make) .*", page.read_text(encoding="utf-8"), re.MULTILINE)
        assert not [line for line in bare if not any(line in block.code for block in documented.blocks(page))], page


def test_blocks_that_are_not_run_have_a_reason():
    reasons = [block.reason for page in documented.pages() for block in documented.blocks(page) if block.reason]
    assert all(len(reason.split()) > 3 for reason in reasons), reasons
    n_comments = sum(page.read_text(encoding="utf-8").count("\n<!-- not run") for page in documented.pages())
    assert n_comments == len(reasons)  # none stands beside no block


def test_commands_in_the_docs_exist_with_their_options():
    listed = [command for page in documented.pages() for command in documented.commands(page)]
    assert len(listed) > 130
    for command in listed:
        check_command(command)


KNOWN = {*expanded(RECORD.read_text(encoding="utf-8").splitlines())}
COMMANDS = {re.sub(" [A-Z].*", "", line) for line in KNOWN if line.startswith("pfgen-fast") and " -" not in line}


def check_command(command: str) -> None:
    """The subcommand is there, and so are its options; names in capitals stand for any."""
    command = re.sub(r"'[^']*'|\"[^\"]*\"", "TEXT", command)
    path, *words = re.split(r"\s(?:[|>&#;]|\d>)", command)[0].split()
    while words and any(known.startswith(f"{path} ") for known in COMMANDS) and words[0][0] not in "-.":
        name = words.pop(0)
        if name.isupper():
            return
        parts = [f"{path} {part.rstrip(',')}" for part in re.split("[|/]", name)]
        assert set(parts) <= COMMANDS, f"{command}: there is no command {name}"
        path = parts[0]
    asked = {word.partition("=")[0] for word in words if re.match(r"--?[a-z]", word)} - {"--help", "-h", "--version"}
    assert {f"{path} {option}" for option in asked} <= KNOWN, f"{command}: {asked}"


def test_every_source_file_that_a_page_names_is_there():
    named = {
        (page.name, path)
        for page in (*documented.pages(), ROOT / "CONTRIBUTING.md")
        for path in re.findall(
            r"(?<![\w/.])(?:tests|tools|bench|cpp|examples)/[\w/]+\.(?:py|[ch]pp|toml)\b",
            page.read_text(encoding="utf-8"),
        )
    }
    assert len(named) > 30
    assert not [f"{page}: {path}" for page, path in sorted(named) if not (ROOT / path).is_file()]


def test_every_picture_is_made_by_a_command_that_the_docs_name():
    pictures = [path for part in ("docs", "bench") for path in (ROOT / part / "pictures").iterdir()]
    table = (DOCS / "architecture.md").read_text(encoding="utf-8").partition("## The site\n")[2]
    rows = dict(re.findall(r"^\| `([\w./]+)` \| `(.+?)` \|$", table, flags=re.MULTILINE))
    stems = {f"{path.parent.relative_to(ROOT).as_posix()}/{path.stem.removesuffix('_dark')}" for path in pictures}
    assert stems == rows.keys()
    texts = {page: page.read_text(encoding="utf-8") for page in documented.pages()}
    assert not [page for page, text in texts.items() if text.count(".webp") != 2 * text.count("_dark.webp")]
    assert all("report.webp" in texts[page] for page in (ROOT / "README.md", DOCS / "index.md"))
    for command in rows.values():
        program = command.split()[1]
        assert command.startswith(("pfgen-fast ", "make ")) or (ROOT / program).is_file(), command


def test_the_page_of_the_commands_is_their_help():
    program = documented.tool("command_reference")
    assert program.PAGE.read_text(encoding="utf-8") == program.written(), "run `python tools/command_reference.py`"


@pytest.mark.parametrize("module", ["pfgen_fast", "pfgen_fast.oracle"])
def test_every_public_name_is_in_the_reference(module):
    package = importlib.import_module(module)
    listed = {name for page in (DOCS / "reference").glob("*.md") for name in references(page)}
    assert {f"{module}.{name}" for name in package.__all__ if name != "__version__"} - listed == set()


@pytest.mark.parametrize("page", sorted((DOCS / "reference").glob("*.md")), ids=lambda page: page.stem)
def test_every_name_in_the_reference_exists(page):
    for name in references(page):
        assert pkgutil.resolve_name(name)


def references(page: Path) -> list[str]:
    return re.findall(r"^::: (\S+)$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)


def test_the_docs_stay_short():
    pages = set(DOCS.rglob("*.md")) - set((DOCS / "reference").glob("*.md"))
    assert sum(len(page.read_text(encoding="utf-8").split()) for page in pages) <= 55_000


def test_every_page_is_in_the_navigation():
    navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:\n")[2]
    patterns = re.findall(r"(\S+\.md)$", navigation, flags=re.MULTILINE)
    listed = {path for pattern in patterns for path in DOCS.glob(pattern)}
    assert set(DOCS.rglob("*.md")) - listed == set()


def sentences(page: Path) -> Iterator[str]:
    """The sentences of eight or more words on a page in lower case, without code, tables and pictures."""
    prose = re.sub(r"^(?:\||#|!\[).*$", "", documented.without_code(page), flags=re.MULTILINE)
    for part in re.split(r"\n\s*\n|\n(?=\s*(?:[*>]|\d+\.) )|(?<=[.:;?!])\s+", re.sub(r"\]\(.*?\)|[`*\[]", "", prose)):
        words = re.findall(r"\w+", part.lower())
        if len(words) >= 8:
            yield " ".join(words)


def test_no_sentence_stands_on_two_pages():
    english = [
        page for page in documented.pages() if "ja" not in (page.parent.name, page.parent.parent.name, page.stem[-2:])
    ]
    on = [(sentence, page.name) for page in english for sentence in {*sentences(page)}]
    twice = {sentence for sentence, n in Counter(sentence for sentence, _ in on).items() if n > 1}
    assert sorted((sentence, name) for sentence, name in on if sentence in twice) == []
