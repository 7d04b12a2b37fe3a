"""README.ja.md says what README.md says: the same headings, commands, code, links and figures, section by section."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
LANGUAGES = {"README.md": "[日本語](README.ja.md)", "README.ja.md": "[English](README.md)"}


@dataclass(frozen=True)
class Section:
    """What a translation must keep of a section; a comment in code is translated, a table in it is not."""

    level: int
    code: list[str]
    commands: Counter[str]
    links: list[str]
    figures: Counter[str]
    n_paragraphs: int


def sections(name: str, folder: Path = ROOT) -> list[Section]:
    text = (folder / name).read_text(encoding="utf-8").replace(LANGUAGES[name] + "\n\n", "")
    heads = re.split(r"^(#+) .+$", text, flags=re.MULTILINE)
    assert not heads[0]
    return [section(len(level), body) for level, body in zip(heads[1::2], heads[2::2], strict=True)]


def section(level: int, body: str) -> Section:
    code: list[str] = []

    def taken(block: re.Match[str]) -> str:
        code.extend(re.sub(r" *#.*", "", line) for line in block[0].splitlines())
        return ""

    prose = re.sub(r"^```.*?^```$|(?:^    [^\n]*\n)+", taken, body, flags=re.MULTILINE | re.DOTALL)
    links = re.findall(r"\]\((.+?)\)", prose)
    commands = Counter(" ".join(command.split()) for command in re.findall(r"`(.+?)`", prose, flags=re.DOTALL))
    words = re.sub(r"\]\(.+?\)|`.+?`", "", prose, flags=re.DOTALL)
    figures = Counter(re.findall(r"\d(?:[\d,.]*\d)?", words))
    paragraphs = [part for part in re.split(r"\n\n|\n(?=\* )", prose) if part.strip()]
    return Section(level, code, commands, sorted(links), figures, len(paragraphs))


def test_the_japanese_readme_keeps_step_with_the_english_one():
    english, japanese = sections("README.md"), sections("README.ja.md")
    assert len(english) > 5
    assert sum(part.commands.total() for part in english) > 40
    assert sum(part.figures.total() for part in english) > 20
    for number, (original, translation) in enumerate(zip_longest(english, japanese), start=1):
        assert translation == original, f"section {number}"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("`pfgen_fast.oracle` は", "`oracle` は"),
        ("57,100", "57,000"),
        ("## 速度", "### 速度"),
        ("make demo    # ", "make all    # "),
        ("(docs/scoring.md)", "(docs/rules.md)"),
    ],
)
def test_a_difference_is_noticed(tmp_path, before, after):
    text = (ROOT / "README.ja.md").read_text(encoding="utf-8")
    assert before in text
    (tmp_path / "README.ja.md").write_text(text.replace(before, after, 1), encoding="utf-8")
    assert sections("README.ja.md", tmp_path) != sections("README.md")
