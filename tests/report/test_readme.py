import hashlib
import json
import math
import re
from pathlib import Path
from typing import Any

import pytest
from makers import published
from makers.hostile import NAMES, markdown_tokens
from makers.pages import Outline
from makers.reported import made_result
from markdown_it import MarkdownIt
from pfgen_fast import Suite
from pfgen_fast.base.untrusted_text import in_one_line
from pfgen_fast.report import ReportRun, write_readme
from pfgen_fast.runs.run_result import parse_result, read_result

# The beginnings of the SHA-1 of what upstream's report makes of each published result.json, ordered by name.
PUBLISHED = (
    "22a89dc46a 20e5470816 6b0f0db62b 9ad5645c68 08e6056c0f f4729eed32 46175c686b 76abf1e0e9 8369e7ffa0 "
    "9f907759bd ebecddd76e 53befee0c5 60739eb2e7 3363b23fc0 9da80050f2 dcb2611f7f 6a98064248"
)
# Upstream writes characters that act (U+0080 to U+009F, U+202A) as they are; ours are escapes.
WITH_ESCAPES = {
    "Deci/DeciLM-7B/526d21c": ["0081", "0084", "202a"],
    "Qwen/Qwen1.5-1.8B/7343413": ["008d"],
    "mistralai/Mistral-7B-Instruct-v0.2/a690ecc": ["0085", "0080", "0091", "0091"],
}
ESCAPE = re.compile("&#92;u([0-9a-f]{4})")


def result(suite: Suite, *, rules: Any = (("word", 0.0), ("12字超過", 0.76)), **changes: Any) -> dict[str, Any]:
    created = made_result(suite, **{"config": {"model": "org/model"}, **changes})
    for question in created["questions"].values():
        for sample in question["samples"]:
            sample["scores"] = {**sample["scores"], "helpfulness_results": list(map(list, rules))}
    return {**created, "num_trials": 9}


@pytest.fixture
def readme(tmp_path):
    def write(suite: Suite, created: dict[str, Any], name: str = "org/model/abc", **settings: Any) -> str:
        path = tmp_path / "README.md"
        write_readme(ReportRun(name, None, parse_result(created, name), **settings), suite, path)
        return path.read_bytes().decode()

    return write


@pytest.mark.slow
@published.needs_published_runs
def test_published_results_make_the_readmes_of_upstream(tmp_path):
    folder, digests = published.FOLDER / "result", []
    for source in sorted(folder.rglob("result.json"), key=lambda path: path.parent.as_posix()):
        name = source.parent.relative_to(folder).as_posix()
        run = ReportRun(name, None, read_result(source), result_hash=hashlib.sha1(source.read_bytes()).hexdigest())
        write_readme(run, published.suite(), tmp_path / "README.md")
        text = (tmp_path / "README.md").read_bytes().decode()
        assert ESCAPE.findall(text) == WITH_ESCAPES.get(name, [])
        theirs = ESCAPE.sub(lambda match: chr(int(match[1], 16)), text)
        digests.append(hashlib.sha1(theirs.encode()).hexdigest()[:10])
    assert " ".join(digests) == PUBLISHED


def test_the_layout_of_a_readme(readme, make_suite):
    common, middling = ["a cat sat."] * 30, ["b dog ran!"] * 2  # 14 % and 1 % of all 210 answers
    suite = Suite.load(make_suite({"answers": {"T": common, "Mine": middling, "P": ["zzz"] * 178}}))
    created = result(suite, answers=["a cat\nb dog (ran)", "", "zz"], rules=[["word", 0.0], ["3字超過", 0.94]])
    created["scores"]["fluency"] = {"T": 0.02162, "Mine": 0.26802, "P": 0.17674}
    shares = "P:0.2500+T:0.2500+Mine:0.2500"
    summary = f"<dt>0.500 (=avg(f=({shares}), t=({shares}), h=0.500 [word, 3字超過*0.9]))</dt>\n"
    assert readme(suite, created, result_hash="c0ffee") == (
        "# Model: org/model\n\n<!-- result.json: c0ffee -->\n\n"
        "- Score: 0.500 (±0.0100/√9)\n"
        "  - Fluency: 0.466 (PFN:0.1767+Titech:0.0216+Mine:0.2680)\n"
        "  - Truthfulness: 0.750 (PFN:0.2500+Titech:0.2500+Mine:0.2500)\n"
        "  - Helpfulness: 0.500\n"
        "## Questions\n\n| Question | Score | Length |\n|----------|-------|--------|\n"
        "| [Q01. question 1?](#Q01) | <code>0.5000 (±0.0100)</code> | <code>10.0 (±1.0)</code> |\n\n"
        '## Config\n\n```json\n{"model": "org/model"}\n```\n\n'
        '## <a name="Q01"></a>Q01. question 1?\n\n'
        "- Score: 0.500 (±0.01)\n"
        "  - Fluency: 0.466 (PFN:0.1767+Titech:0.0216+Mine:0.2680)\n"
        "  - Truthfulness: 0.750 (PFN:0.2500+Titech:0.2500+Mine:0.2500)\n"
        "  - Helpfulness: 0.500\n"
        "- Length: 10.0 (±1.0)\n\n<dl>\n"
        f"{summary}<dd><b>a cat</b><s>&#92;n</s>b dog <s>&#40;</s>ran<s>&#41;</s></dd>\n"
        f"{summary}<dd></dd>\n"
        f"{summary}<dd><s>zz</s></dd>\n"
        "</dl>\n\n"
    )


@pytest.mark.parametrize("config", [None, {}, {"model": ""}])
def test_a_run_without_a_model_has_the_name_of_its_folder(readme, mini, config):
    assert readme(mini, result(mini, config=config), "a/b").startswith("# Model: a/b\n\n- Score: 0.500")


def test_numbers_that_are_none_and_questions_that_are_missing_are_no_errors(readme, mini):
    created = result(mini, score=math.nan, score_std=None, length=math.inf, rules=[["word"], ["other", None]])
    del created["questions"]["Q02"]
    text = readme(mini, created)
    assert text.startswith("# Model: org/model\n\n- Score: – (±–/√9)\n")
    assert "[word*–, other*–]" in text
    assert "Q02" not in text


@pytest.mark.slow
def test_a_huge_answer_is_cut_and_says_so(readme, mini):
    text = readme(mini, result(mini, answers=["x" * 1_000_000] * 10))
    assert len(text) < 8 * 5 * 101_000
    assert text.count("</s> … 900,000 more characters</dd>\n") == 8 * 5


def outline(text: str) -> list[str]:
    kinds = []
    for token in markdown_tokens(text):
        if token.type not in ("text", "text_special"):
            kinds.append(f"{token.type} {token.tag}")
        if token.type.startswith("html"):
            parts = Outline(token.content)
            kinds += [*parts.tags, *(name for name, _ in parts.attributes)]
    # How an answer is tinted depends on it.
    return [kind for kind in kinds if kind not in ("b", "s")]


@pytest.mark.slow
@pytest.mark.parametrize("text", NAMES)
def test_no_untrusted_text_becomes_markup_and_the_parameters_can_be_read_back(readme, mini, text):
    usual = outline(readme(mini, result(mini)))
    config = {"model": text, text.encode("utf-8", "replace").decode(): text, "n": [1, None, {"c": 1.5}]}
    created = result(mini, answers=[text], config=config, rules=[[text, 0.0], [text, 0.5]])
    created["scores"]["fluency"][text] = 0.5
    page = readme(mini, created)
    assert outline(page) == usual
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b\u202e\u2028\ufeff\ud800\U000e0041]", page)
    _, heading, *tokens = MarkdownIt("commonmark").parse(page)
    shown = "".join(child.content for child in heading.children)
    assert shown.split() == f"Model: {in_one_line(text, 1000)}".split()  # Markdown makes several spaces one
    assert [json.loads(token.content) for token in tokens if token.type == "fence"] == [config]


@pytest.mark.slow
@pytest.mark.parametrize("text", NAMES)
def test_no_text_of_a_suite_becomes_markup(readme, make_suite, text):
    usual = Suite.load(make_suite({}))
    expected = outline(readme(usual, result(usual)))
    name = "".join(character for character in text if character.isprintable())  # a suite has no other names
    hostile = Suite.load(make_suite({"question_id": name, "question": text, "answers": {name: ["an answer"]}}))
    assert outline(readme(hostile, result(hostile))) == expected


def test_the_command_writes_a_readme_that_names_the_hash_of_the_result(call, varied, mini, tmp_path):
    del mini
    assert call("score", "--suite", "mini", varied, "--output", tmp_path)[0] == 0
    assert call("report", "--suite", "mini", tmp_path, "--markdown")[0] == 0
    paths = sorted(tmp_path.rglob("README.md"))
    assert len(paths) == 6
    for path in paths:
        digest = hashlib.sha1(Path(path.parent, "result.json").read_bytes()).hexdigest()
        assert f"<!-- result.json: {digest} -->\n" in path.read_text(encoding="utf-8")
