"""The file of an annotator's page: what it embeds, what it may do, and its texts in all languages."""

import json
import re

from makers.hostile import NAMES, acting
from makers.pages import Outline, check_policy, embedded
from pfgen_fast.report.annotation_page import sheet_page, words
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
    chosen = {f"choice_{name}" for name in ("first", "second", "tie")}
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
    texts = [item[name] for item in sheet["items"] for name in ("instruction", "response")]
    assert not any(acting(text.replace("\t", "")) for text in texts)
    assert [json.loads(item["row"])["response_sha256"] for item in sheet["items"]] == list(NAMES)
    assert json.loads(sheet["header"])["annotator"] == hostile
