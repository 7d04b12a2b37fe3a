"""Japanese pages say what the English ones say: headings, commands, code, links and figures, section by section.

README.ja.md is held to README.md, and every page of docs/ja/ to the page of the same name in docs/. Where a page has a
Japanese form, a link to either form means the same.
"""

import re
from collections import Counter
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

import pytest
from makers.documented import DOCS, ROOT

TRANSLATIONS = {ROOT / "README.ja.md": ROOT / "README.md"} | {
    path: DOCS / path.relative_to(DOCS / "ja") for path in sorted((DOCS / "ja").rglob("*.md"))
}
NAMES = [path.relative_to(ROOT).as_posix() for path in TRANSLATIONS]
CODE = re.compile(r"^```.*?^```$|(?:^    [^\n]*\n)+", flags=re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^(#+) (.+)$", flags=re.MULTILINE)
LINK = re.compile(r"\]\((.+?)\)")
FIGURE = re.compile(r"−?\d(?:[\d,.]*\d)?")
FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n+", flags=re.DOTALL)
OTHER_LANGUAGE = re.compile(r"^\[(?:日本語|English)\]\((.+?)\)\n\n", flags=re.MULTILINE)


@dataclass(frozen=True)
class Section:
    """What a translation must keep of a section; a comment in code is translated, a table in it is not."""

    level: int
    code: list[list[str]]
    commands: Counter[str]
    links: list[str]
    figures: Counter[str]
    n_paragraphs: int


def sections(path: Path) -> list[Section]:
    """The sections of a page."""
    text = OTHER_LANGUAGE.sub("", FRONT_MATTER.sub("", path.read_text(encoding="utf-8")), count=1)
    blocks = iter([re.sub(r" *#.*", "", line) for line in block.splitlines()] for block in CODE.findall(text))
    before, *parts = HEADING.split(CODE.sub("\0", text))
    assert not before
    return [
        section(path, len(level), title, body, [next(blocks) for _ in range(body.count("\0"))])
        for level, title, body in zip(parts[::3], parts[1::3], parts[2::3], strict=True)
    ]


def section(path: Path, level: int, title: str, body: str, code: list[list[str]]) -> Section:
    prose = f"{title}\n\n{body}"
    commands = Counter(" ".join(command.split()) for command in re.findall(r"`(.+?)`", prose, flags=re.DOTALL))
    figures = Counter(FIGURE.findall(re.sub(r"\]\(.+?\)|`.+?`", "", prose, flags=re.DOTALL)))
    paragraphs = [part for part in re.split(r"\n\n|\n(?=\* |> \* |\d+\. |\|)", prose) if part.strip()]
    links = sorted(meant(path, link) for link in LINK.findall(prose))
    return Section(level, code, commands, links, figures, len(paragraphs))


def meant(page: Path, link: str) -> str:
    """A link as the English page has it, from the top of the project; a heading by its number, for its words differ."""
    if "://" in link:
        return link
    path, anchor = target(page, link)
    english = TRANSLATIONS.get(path, path).relative_to(ROOT).as_posix()
    if not anchor:
        return english
    return f"{english}#{anchors(path).index(anchor) if anchor in anchors(path) else anchor}"


def target(page: Path, link: str) -> tuple[Path, str]:
    name, _, anchor = link.partition("#")
    return ((page.parent / name).resolve() if name else page), anchor


def anchors(path: Path) -> list[str]:
    headings = (
        HEADING.findall(CODE.sub("", path.read_text(encoding="utf-8")))
        if path.suffix == ".md" and path.is_file()
        else []
    )
    return [re.sub(r"[^\w\- ]", "", title).lower().replace(" ", "-") for _, title in headings]


@pytest.mark.parametrize("name", NAMES)
def test_a_japanese_page_keeps_step_with_the_english_one(name):
    path = ROOT / name
    assert TRANSLATIONS[path].is_file(), f"{name} translates no page"
    english, japanese = sections(TRANSLATIONS[path]), sections(path)
    for number, (original, translation) in enumerate(zip_longest(english, japanese), start=1):
        assert translation == original, f"section {number}"


@pytest.mark.parametrize("name", NAMES)
def test_a_japanese_page_links_to_the_english_page_and_to_existing_targets(name):
    path = ROOT / name
    text = path.read_text(encoding="utf-8")
    assert target(path, OTHER_LANGUAGE.findall(text)[0]) == (TRANSLATIONS[path], "")
    for link in LINK.findall(CODE.sub("", text)):
        page, anchor = target(path, link)
        assert "://" in link or page.exists(), link
        assert not anchor or "://" in link or page.suffix != ".md" or anchor in anchors(page), link


@pytest.mark.parametrize("name", [name for name in NAMES if name.startswith("docs/")])
def test_a_link_from_the_site_prefers_japanese_pages_and_says_where_english_begins(name):
    path = ROOT / name
    text = OTHER_LANGUAGE.sub("", CODE.sub("", path.read_text(encoding="utf-8")), count=1)
    for link, after in re.findall(r"\]\((.+?)\)(.{0,4})", text):
        page, _ = target(path, link)
        if "://" not in link and page.suffix == ".md" and page not in TRANSLATIONS:
            assert page not in TRANSLATIONS.values(), f"{link} has a Japanese form"
            assert after in ("（英語）", "、英語）"), f"{link} is not marked as English"


def test_the_compared_pages_have_content():
    for path, few in ((ROOT / "README.md", (5, 4, 10)), (DOCS / "scoring.md", (9, 100, 200))):
        parts = sections(path)
        result = len(parts), *(sum(getattr(part, name).total() for part in parts) for name in ("commands", "figures"))
        assert all(n > least for n, least in zip(result, few, strict=True)), result
        assert sum(len(part.code) for part in parts) > 5
        assert sum(len(part.links) for part in parts) > 2
