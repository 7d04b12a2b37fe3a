"""Every command among names that attack what shows them: its output, and each file that it writes for a reader."""

import base64
import csv
import json
import os
import re
import shutil
from urllib.parse import unquote_to_bytes, urlsplit
from xml.etree import ElementTree

import pytest
from makers.builds import write_config, write_raw
from makers.fault_server import answering, serving
from makers.hostile import INJECTED, NAMES, acting, formulas, markdown_tokens
from makers.pages import Outline, overview_in
from makers.reported import unpacked
from makers.runs import make_run, trial_lines
from pfgen_fast import Suite
from pfgen_fast.runs.run_scorer import RunScorer
from pfgen_fast.runs.trials import find_runs
from pfgen_fast.suite.suite_reading import PACKAGED

# What matplotlib says of names too long for a picture. What it says of a character without a glyph fails these tests.
pytestmark = pytest.mark.filterwarnings("ignore:constrained_layout not applied")

WRITABLE = tuple(name for name in NAMES if "\udcff" not in name)
"""The names that UTF-8 can encode."""

# What the templates of the pages are made of.
_TAGS = {"html", "head", "meta", "title", "style", "script", "body", "header", "nav", "main", "section", "template"}
_TAGS |= {"h1", "h2", "h3", "p", "a", "b", "bdi", "code", "span", "ul", "li", "noscript", "figure", "figcaption", "img"}
_TAGS |= {"table", "thead", "tbody", "tr", "th", "td", "div", "dialog", "details", "summary", "wbr"}
_TAGS |= {"button", "input", "label", "select", "option", "form", "fieldset", "legend", "dl", "dt", "dd", "kbd"}
_TAGS |= {"canvas", "svg", "use", "defs", "clippath", "g", "path", "rect", "circle", "line", "text", "tspan"}
_CSV = "data:text/csv;charset=utf-8;base64,"
_TAGS_IN_MARKDOWN = {"code", "a", "b", "s", "dl", "dt", "dd"}


@pytest.fixture(scope="module")
def suite(tmp_path_factory):
    """The packaged suite in a folder with a hostile name, with hostile questions and names of rules."""
    folder = tmp_path_factory.mktemp("suite") / NAMES[5]
    shutil.copytree(PACKAGED / "mini", folder)
    samples = []
    for number, path in enumerate(sorted(folder.glob("Q*.json"))):
        question = json.loads(path.read_text(encoding="utf-8"))
        names = WRITABLE[number::8]
        question["question"] = "; ".join(names)
        question["category"] = names[0]
        question["answers"] = {name: answers[:60] for name, answers in question["answers"].items()}
        question["keywords"] += [{"t": "never", "name": name, "importance": 0.9} for name in names]
        path.write_text(json.dumps(question), encoding="utf-8")
        samples.append(json.dumps({"question": question["question"], "answer": names[-1]}) + "\n")
    (folder / "questions.jsonl").write_text("".join(samples), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def runs(tmp_path_factory, suite):
    """A run for each name, from good to bad, with a result."""
    return make_runs(tmp_path_factory.mktemp("runs"), suite, NAMES)


@pytest.fixture(scope="module")
def few_runs(tmp_path_factory, suite):
    """Runs for some of the names, because experiments draw pictures of all runs."""
    return make_runs(tmp_path_factory.mktemp("few"), suite, NAMES[::4])


def make_runs(folder, suite, names):
    loaded = Suite.load(suite)
    for number, name in enumerate(names):
        lines = []
        for trial in range(2):
            for question in loaded:
                answer = question.answers["A"][(number + trial) % 50]
                length = len(answer) * (len(names) - number) // len(names) + 3 * trial
                line = {"question": question.question, "answer": answer[:length] + name * trial}
                lines.append(json.dumps(line))
        make_run(folder / "org" / name, lines, {"model": name, "mode": name, name: name, "list": [name]})
    outcomes = RunScorer(suite=loaded, threads=2).score(find_runs([folder]))
    assert [outcome.error for outcome in outcomes] == [None] * len(names)
    return folder


@pytest.fixture
def asked(call, suite):
    """Calls a command, checks that what it prints is harmless, and returns its output; JSON is decoded."""

    def ask(*arguments, code=0, prints_answer=False):
        result, out, err = call(*arguments)
        assert result == code, err
        for text in (out, err):
            assert not acting(text)
            assert prints_answer or not re.search(rf"^\W*{INJECTED}", text, flags=re.MULTILINE)
        return out

    return ask


def check_files(folder, *, count):
    """Checks the files below a folder that somebody reads, by their kind."""
    checked = [path for path in folder.rglob("*") if path.suffix in _CHECKS]
    for path in checked:
        text = path.read_text(encoding="utf-8")
        _CHECKS[path.suffix](text)
    assert len(checked) == count


def check_markdown(text):
    """Nothing but our own markup: headings, tables, links to files and pictures, code blocks."""
    assert acting(text) <= {"\t"}  # in code blocks
    tokens = markdown_tokens(text)
    for token in tokens:
        if token.type in ("html_inline", "html_block"):
            outline = Outline(token.content)
            assert {*outline.tags} <= _TAGS_IN_MARKDOWN
            assert {name for name, _ in outline.attributes} <= {"name"}
        for address in (token.attrs.get("href"), token.attrs.get("src")):
            assert address is None or is_file(str(address)), address
    for index, token in enumerate(tokens):
        if token.type == "heading_open":
            assert not re.match(rf"\W*{INJECTED}", tokens[index + 1].content)
    kinds = {token.type for token in tokens}
    assert not kinds & {"em_open", "s_open", "code_inline", "code_block", "hr", "blockquote_open", "ordered_list_open"}


def is_file(address):
    """Whether an address leads to a file or within one."""
    parts = urlsplit(address)
    return address.isascii() and (parts.scheme, parts.netloc, parts.query) == ("", "", "")


def check_html(text):
    """Nothing but the elements of the templates."""
    outline = Outline(text)
    assert not acting("".join(outline.texts))
    assert set(outline.tags) <= _TAGS
    for name, value in outline.attributes:
        assert not name.startswith("on")
        assert name != "style"
        if name == "href" and value.startswith(_CSV):
            check_csv(base64.b64decode(value.removeprefix(_CSV)).decode())
        else:
            assert name != "href" or is_file(value)
        assert name != "src" or value.startswith("data:image/svg+xml;base64,")
        assert not acting(value)


def check_csv(text):
    assert not acting(text)
    assert not formulas(text)


def check_svg(text):
    assert not acting(text)
    assert not {element.tag.rpartition("}")[2] for element in ElementTree.fromstring(text).iter()} & {"script", "a"}


def check_json(text):
    assert not acting(text)
    json.loads(text)


_CHECKS = {".md": check_markdown, ".html": check_html, ".csv": check_csv, ".svg": check_svg, ".json": check_json}


@pytest.mark.slow
def test_score(asked, suite, runs, tmp_path):
    rows = asked("score", "--suite", suite, runs, "--output", tmp_path).splitlines()
    assert len(rows) == 1 + len(NAMES) + 2  # the heads, what ± means, and the suite
    assert f"{len(NAMES)} runs: up to date\n" in asked("score", "--suite", suite, runs)
    asked("score", "--suite", suite, runs, "--json")
    for name in NAMES[:20]:
        make_run(tmp_path / "bad" / name, [json.dumps({"question": name, "answer": ""})])
    asked("score", "--suite", suite, tmp_path / "bad", code=3)


def test_score_of_a_table(asked, tmp_path):
    table = tmp_path / f"{NAMES[0]}.csv"
    table.write_text("q,a,=1+1\nQ07,Ice floats.,=2+2\n", encoding="utf-8")
    scored = table.with_suffix(".scored.csv")
    columns = ("--suite", "mini", "--question-column", "q", "--answer-column", "a")
    asked("score", *columns, table, "-o", scored)
    # The user's own columns are data, which must come out as they went in.
    assert scored.read_text(encoding="utf-8").splitlines()[0].startswith("q,a,=1+1,")
    assert scored.read_text(encoding="utf-8").splitlines()[1].startswith("Q07,Ice floats.,=2+2,")
    table.write_text(f"q,a\n{NAMES[11]},x\n", encoding="utf-8")
    asked("score", *columns, table, "-o", scored, code=2)
    table.write_text(",".join(f"{name}" for name in WRITABLE[:9]).replace("\n", "") + "\n", encoding="utf-8")
    asked("score", table, code=2)


@pytest.mark.slow
def test_leaderboard(asked, runs, tmp_path):
    options = {"markdown": ("--format", "published"), "csv": ("--format", "csv"), "json": ("--json",)}
    shown = {form: asked("leaderboard", runs, *words) for form, words in options.items()}
    for form, text in shown.items():
        path = tmp_path / f"table.{'md' if form == 'markdown' else form}"
        asked("leaderboard", runs, *options[form], "-o", path)
        if form != "markdown":  # whose links are relative to the working folder
            assert path.read_text(encoding="utf-8") == text
    check_files(tmp_path, count=3)
    assert sorted(record["model"] for record in json.loads(shown["json"])) == sorted(NAMES)
    tokens = markdown_tokens(shown["markdown"])
    assert sum(token.type == "tr_open" for token in tokens) == 1 + len(NAMES)
    assert sum(token.type == "link_open" for token in tokens) == len(NAMES)
    assert len(shown["markdown"].splitlines()) == 2 + len(NAMES)


def test_leaderboard_can_be_updated_whatever_the_names(asked, runs, tmp_path):
    readme = tmp_path / "README.md"
    readme.write_text("# A\n\n<!-- leaderboard -->\n<!-- /leaderboard -->\n\n## B\n", encoding="utf-8")
    for _ in range(2):
        asked("leaderboard", runs, "--update", readme)
        text = readme.read_text(encoding="utf-8")
        tokens = markdown_tokens(text)
        assert [tokens[i + 1].content for i, token in enumerate(tokens) if token.type == "heading_open"] == ["A", "B"]
    check_files(tmp_path, count=1)
    links = {os.fsdecode(unquote_to_bytes(link)) for link in re.findall(r"\]\(([^)]*)\)", text)}
    assert links == {os.path.relpath(path.with_name("README.md"), tmp_path) for path in runs.rglob("result.json")}


def test_report(asked, suite, runs, tmp_path):
    asked("report", "--suite", suite, runs, "-o", tmp_path / "report.html")
    check_files(tmp_path, count=1)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    outline = Outline(page)
    overview = overview_in(page)
    assert outline.tags.count("script") == len(overview["questions"]) + 4
    assert len([name for name, _ in outline.attributes if name == "data-run"]) == len(NAMES)
    packed = re.findall(r'<script type="text/plain" id="[\w-]+">(.*?)</script>', page, re.DOTALL)
    assert len(packed) == len(overview["questions"]) + 1
    held = [unpacked(line) for lines in packed for line in lines.split("\n")]
    shown = json.dumps([overview, held], ensure_ascii=False)
    assert "\\\\u202egpj.exe" in shown
    assert not acting(shown)
    assert {urlsplit(run["link"]).scheme for run in overview["runs"]} == {""}


@pytest.mark.slow
def test_compare_and_verify(asked, suite, runs):
    a, b, *_ = sorted((runs / "org").iterdir())
    asked("compare", "--suite", suite, a, b)
    asked("compare", "--suite", suite, a, b, "--json")
    asked("compare", "--suite", suite, a, b, b)  # what the shell makes of '*'
    asked("score", "--verify", "--suite", suite, runs, "--sample", "1")
    asked("score", "--verify", "--suite", suite, runs, "--sample", "1", "--json")


def test_the_halves_of_a_tag_in_two_names_hide_nothing(asked, mini, tmp_path):
    a, b = (make_run(tmp_path / name, trial_lines(mini, 2)) for name in ("[b :bomb: \\", "a]"))
    assert re.match(r"A: .*/\[b :bomb: \\\nB: .*/a\]\n", asked("compare", "--suite", "mini", a, b))


@pytest.mark.slow
def test_explain(asked, suite):
    for number, name in enumerate(NAMES[:8:2]):
        asked("explain", "--suite", suite, "--question", f"Q{number + 1:02}", "--answer", name, prints_answer=True)
        asked("explain", "--suite", suite, "--question", f"Q{number + 1:02}", "--answer", name, "--json")
        normalised_options = ("--answer", f"{name}a", "--profile", "normalised")
        asked("explain", "--suite", suite, "--question", f"Q{number + 1:02}", *normalised_options, prints_answer=True)
        asked("explain", "--suite", suite, "--question", name, "--answer", name, code=2)


def test_suite(asked, suite, tmp_path):
    asked("suite", "info", suite)
    asked("suite", "info", suite, "--json")
    asked("suite", "check", suite)
    asked("suite", "compile", suite)
    asked("suite", "compile", suite, "-o", tmp_path / NAMES[13])
    asked("suite", "keywords", suite, "Q01")
    faulty = tmp_path / NAMES[11]
    shutil.copytree(suite, faulty)
    for path, name in zip(sorted(faulty.glob("Q*.json")), NAMES, strict=False):
        question = json.loads(path.read_text(encoding="utf-8"))
        path.write_text(json.dumps({**question, name: name, "question_id": name, "answers": {name: [1]}}))
    asked("suite", "check", faulty, code=1)
    asked("suite", "check", faulty, "--json", code=1)


def test_suite_build(asked, mini, tmp_path):
    folder = tmp_path / NAMES[5]
    folder.mkdir()
    write_raw(folder / "raw.jsonl", mini)
    with (folder / "raw.jsonl").open("a", encoding="utf-8") as file:
        for name in WRITABLE:
            file.write(json.dumps({"question": mini["Q01"].question, "answer": f"{name} wrong"}) + "\n")
    config = write_config(folder, mini, in_question="wrong = ['(?s)javascript.*wrong', 'wrong$']")
    asked("suite", "build", config)
    page = (folder / "made.work/report.html").read_text(encoding="utf-8")
    check_html(page)
    assert not acting(json.dumps(overview_in(page), ensure_ascii=False))


def test_prompts_and_batches(asked, suite, tmp_path):
    asked("prompts", "--suite", suite, "--mode", "chat", "--prefix", NAMES[11])
    batch = tmp_path / "batch.jsonl"
    arguments = ("-e", "openai", "-m", "gpt", "--mode", "chat", "-n", 1, "--suite", suite, "-o", tmp_path / "imported")
    asked("generate", *arguments, "--write-batch", batch)
    assert not acting(batch.read_text(encoding="utf-8"))
    ids = [json.loads(line)["custom_id"] for line in batch.read_text(encoding="utf-8").splitlines()]
    failed = {"status_code": 400, "body": {"error": {"message": NAMES[11]}}}
    output = tmp_path / f"{NAMES[0]}.jsonl"
    for replies, code in (([{"custom_id": name, "response": failed} for name in ids], 3), ([{NAMES[0]: NAMES[11]}], 2)):
        output.write_text("".join(json.dumps(reply) + "\n" for reply in replies), encoding="utf-8")
        asked("generate", *arguments, "--read-batch", output, code=code)
    for name in NAMES[:12]:
        output.write_text(json.dumps({"custom_id": name, "response": failed}), encoding="utf-8")
        asked("generate", *arguments, "--read-batch", output, code=2)


PRINTABLE = [name for name in NAMES if name.isprintable()]
"""The names that a model may have; its folder bears them."""


@pytest.mark.slow
def test_generate(asked, suite, tmp_path):
    for name in PRINTABLE[:4]:
        arguments = ("-e", "ngram", "-s", suite, "-m", name, "-n", "1", "-o", tmp_path, "--prefix", NAMES[11])
        asked("generate", *arguments)
        asked("generate", *arguments, "--json")
    for name in set(NAMES) - set(PRINTABLE):
        asked("generate", "-e", "ngram", "-s", suite, "-m", name, "-o", tmp_path, code=2)
        asked("generate", "-e", name, "-s", suite, code=2)


@pytest.mark.slow
def test_sweep(asked, suite, tmp_path):
    models = [part for name in PRINTABLE[::2] for part in ("-m", name)]
    arguments = ("sweep", "-e", "ngram", "-s", suite, "-n", "2", "-o", tmp_path / "runs", *models)
    asked(*arguments, "--dry-run")
    asked(*arguments, "--dry-run", "--json")
    for form in ("md", "csv", "json"):
        asked(*arguments, "--table", tmp_path / f"table.{form}")
    asked(*arguments, "--json")
    shutil.rmtree(tmp_path / "runs")
    check_files(tmp_path, count=3)


@pytest.mark.slow
def test_experiments_with_ratings(asked, suite, few_runs, tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    usual = (few_runs, "--suite", suite, "-o", tmp_path)
    with serving(lambda request: answering(f"{NAMES[11]} [[{1 + len(request.prompt) % 9}]]")) as server:
        arguments = ("experiment", "judge", *usual, "-n", "1", "-m", NAMES[0], "--base-url", server.base_url)
        asked(*arguments, "--dry-run")
        asked(*arguments)
    ratings = tmp_path / "judge-models.csv"
    others = tmp_path / f"{NAMES[16]}.csv"
    rows = [row[:1] + row[3:4] for row in csv.reader(ratings.read_text(encoding="utf-8").splitlines()[1:])]
    with others.open("w", encoding="utf-8") as file:
        csv.writer(file).writerows([["model", "=1+1 <b>|a"], *rows])
    asked("experiment", "agreement", *usual, "--verdicts", ratings, "--verdicts", others)
    others.unlink()
    check_files(tmp_path, count=13)
    matched = (tmp_path / "agreement-models.csv").read_text(encoding="utf-8")
    for name in ("=1+1", "@SUM(1)"):
        assert re.search(rf"^'{re.escape(name)},'{re.escape(name)},'{re.escape(name)},", matched, flags=re.MULTILINE)
