"""The file of an annotator's page: what it embeds, what it may do, and its texts in all languages."""

import html
import json
import re

import pytest
from makers.hostile import NAMES, acting
from makers.pages import Outline, check_policy, embedded
from pfgen_fast.report.annotation_page import markdown_html, plain_html, sheet_page, words
from pfgen_fast.report.pages import FOLDER
from report.sheets import mark_item, sheet_of

CODE = "".join(path.read_text() for path in sorted((FOLDER / "annotation").glob("*.js")))
PAGE = (FOLDER / "annotation.html.jinja").read_text()


def test_languages_have_the_same_texts_and_the_page_uses_all_of_them():
    english, *others = words().values()
    for texts in others:
        for name, text in {**english, **texts}.items():
            assert sorted(re.findall(r"\{\d\}", text)) == sorted(re.findall(r"\{\d\}", english[name])), name
        assert set(texts) == set(english)
    assert set(re.findall(r'(?:say\(|data-word=|data-label=)"(\w+)"', CODE + PAGE)) <= set(english)
    chosen = {"choice_first", "choice_second", "choice_tie", "description", "reference", "response"}
    chosen |= {f"kind_{kind}" for kind in ("instruction", "mark", "pair", "judgement", "vote")}
    assert set(english) - set(re.findall(r"\w+", CODE + PAGE)) == chosen


def test_a_page_runs_our_code_only_and_asks_no_server():
    page = "".join(sheet_page(sheet_of()))
    check_policy(page)
    assert "connect-src" not in page
    assert '<html lang="en">' in page
    assert '<html lang="ja">' in "".join(sheet_page(sheet_of(language="ja")))


def test_texts_are_harmless_and_rows_are_exact():
    hostile = "\n".join(NAMES) + "</script><!--<script>"
    items = [mark_item(0, hostile, name, instruction=name) for name in NAMES]
    page = "".join(sheet_page(sheet_of(items, annotator=hostile, guideline=hostile)))
    assert Outline(page).tags.count("script") == 4  # two of code, two of data
    sheet = json.loads(embedded(page)["sheet"])
    texts = [text for item in sheet["items"] for text in (*item["texts"].values(), item["excerpt"])]
    assert not any(acting(text.replace("\t", "")) for text in [*texts, sheet["guideline"]])
    assert [json.loads(item["row"])["response_sha256"] for item in sheet["items"]] == list(NAMES)
    assert json.loads(sheet["header"])["annotator"] == hostile


TAGS = "blockquote|br|code|div|em|h4|hr|li|ol|p|pre|s|strong|table|tbody|td|th|thead|tr|ul"
ATTACKS = (
    "<b onclick=alert(1)>x</b> <!-- <script>alert(1)</script> &lt;script&gt;",
    "[a](javascript:alert(1)) ![b](http://c.example/d.png) <http://e.example> [f]\n\n[f]: http://g.example",
    '```"><img src=x onerror=alert(1)>\n</code></pre><script>alert(1)</script>\n```',
    "| <img src=x> | b |\n| :-: | -: |\n| `<svg onload=alert(1)>` | </td><script> |",
    '# <h1 style="x">\n</h4><script>\n===\n',
    "> " * 300 + "deep",
)


@pytest.mark.parametrize("text", [*ATTACKS, *NAMES])
def test_answers_are_markdown_that_cannot_act(text):
    outline = Outline(markdown_html(text))
    assert all(re.fullmatch(TAGS, tag) for tag in outline.tags)
    assert {name for name, _ in outline.attributes} <= {"class", "start"}
    assert Outline(plain_html(text)).tags == (["div"] if text else [])


def test_answers_are_shown_as_readers_see_them_and_very_long_ones_as_they_are():
    shown = markdown_html("### 1. **Skills**\nOne\ntwo\n\n3. a\n\n| b |\n| -: |\n| ~~c~~ |")
    assert '<h4 class="level-3">1. <strong>Skills</strong></h4>\n<p>One<br>\ntwo</p>\n<ol start="3">' in shown
    assert "<td><s>c</s></td>" in shown
    long = "*a*\n" * 26_000
    assert markdown_html(long).count('<div class="block huge">') == 11
    assert html.unescape(re.sub("<[^>]*>", "", markdown_html(long))) == long
