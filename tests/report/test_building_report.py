import json
import re
from dataclasses import replace

import pytest
from makers.builds import write_config, write_raw
from makers.pages import check_policy, overview_in
from pfgen_fast import BuildError
from pfgen_fast.build.build_config import read_config
from pfgen_fast.build.pipeline import build_suite, building_alone, records
from pfgen_fast.report.building import write_building_report

BREAK_OUT = "</script><script>document.title='pwned'</script><img src=x onerror=\"document.title='pwned'\">"


@pytest.fixture(scope="module")
def built(tmp_path_factory, mini):
    folder = tmp_path_factory.mktemp("report")
    write_raw(folder / "raw.jsonl", mini)
    with (folder / "raw.jsonl").open("a", encoding="utf-8") as file:
        for row in range(30):
            bad = {"question": mini["Q01"].question, "answer": f"\u202e{BREAK_OUT} {row % 3}"}
            file.write(json.dumps(bad, ensure_ascii=False) + "\n")
    text = write_config(folder, mini, in_question=f"wrong = [{json.dumps(re.escape(BREAK_OUT))}, '^x']")
    created = build_suite(read_config(text))
    assert created.problems == ()
    return created


@pytest.fixture(scope="module")
def path(built):
    told = []
    path = write_building_report(built, on_branch=lambda branch: told.append(branch.name))
    assert path == built.config.work / "report.html"
    assert told == [branch.name for branch in built.branches]
    return path


@pytest.fixture(scope="module")
def shown(path):
    return overview_in(path.read_text(encoding="utf-8"))


def test_the_page_shows_what_the_records_say(built, shown):
    assert [(branch["id"], branch["set"]) for branch in shown["branches"]] == [("Q01", "N"), ("Q07", "N")]
    for branch, described in zip(built.branches, shown["branches"], strict=True):
        for (name, record), stage in zip(records(branch), described["stages"], strict=True):
            assert (stage["name"], stage["n"], stage["mean"]) == (name, record["left"]["n"], record["left"]["mean"])
            assert sum(stage["lengths"]) == stage["n"]
            assert stage["scores"]["n"] == min(stage["n"], 1000)
        chosen = dict(records(branch))["select"]["figures"]
        assert (described["error"], described["coverage"]) == (chosen["error"], chosen["coverage"])
        assert described["curve"][0][1] == chosen["initial_error"] >= described["curve"][-1][1] == chosen["error"]
        assert described["stages"][-1]["scores"]["fluency"] == pytest.approx(1)
    filter_stage = shown["branches"][0]["stages"][2]
    assert filter_stage["name"] == "filter"
    ((reason, n),) = filter_stage["reasons"]
    first, *others = filter_stage["examples"]
    assert (n, first["row"], len(others)) == (30, 400, 4)
    assert reason.startswith("wrong: </script")
    assert first["answer"].startswith("\\u202e</script>")
    assert filter_stage["removed_scores"]["average"] < filter_stage["scores"]["average"]
    frequency = shown["branches"][1]["stages"][3]
    assert re.match(r"\d+ of [\d,]+ distinct n-grams were rare", frequency["note"])


def test_untrusted_text_does_not_break_out_and_the_page_needs_no_network(path):
    page = path.read_text(encoding="utf-8")
    assert not [text for text in (BREAK_OUT, "<img", "\u202e") if text in page]
    outside = re.sub(r"<script>.*?</script>", "", page, flags=re.DOTALL)
    assert not re.search(r"(?:src|href)=\"(?!#)", outside)
    check_policy(page)


def test_a_suite_that_is_not_built_or_is_being_built_has_no_report(built):
    with pytest.raises(BuildError, match="nothing to report"):
        write_building_report(replace(built, is_written=False))
    with building_alone(built.config), pytest.raises(BuildError, match="another process is building here"):
        write_building_report(built)


@pytest.mark.browser
@pytest.mark.parametrize(("width", "scheme"), [(1440, "dark"), (390, "light")])
def test_the_page_works_and_fits_a_telephone_and_can_be_used_by_everybody(path, shown, open_tab, width, scheme):
    tab = open_tab(path, viewport={"width": width, "height": 4000}, color_scheme=scheme)
    tab.page.wait_for_selector(".plot svg")
    assert tab.page.title() == "pfgen-fast: how made was built"
    assert tab.page.locator("svg[role=img][aria-label^='Line plot: ']").count() == 4
    assert tab.page.locator("details.stage").count() == 5
    scores = r"they score 1\.\d+ by their suite, the raw answers 0\.\d+; \d+\.\d % were removed as faulty or rare\."
    assert re.fullmatch(rf"\d+ of \d+ answers became 2 reference sets: {scores}", tab.page.locator("h1").inner_text())
    bars = tab.page.locator("#sets tbody tr").first.locator(".left")
    stages = shown["branches"][0]["stages"]
    widths = [float(bar.get_attribute("width")) for bar in bars.all()]
    assert widths == pytest.approx([100 * stage["n"] / stages[0]["n"] for stage in stages])
    examples = tab.page.locator(".example > bdi").evaluate_all("all => all.map(one => one.textContent)")
    assert examples == [item["answer"] for stage in shown["branches"][0]["stages"] for item in stage["examples"]]
    assert tab.page.evaluate("document.documentElement.scrollWidth") == width
    heads = tab.page.locator(".stage[open] tbody th", has_text=re.compile("^(left|removed)$"))
    assert max(heads.evaluate_all("heads => heads.map(head => head.offsetHeight)")) < 50  # no word is broken
    assert "scored score fluency" in " ".join(tab.page.locator(".stage[open] thead").first.inner_text().lower().split())
    assert tab.faults() == []
