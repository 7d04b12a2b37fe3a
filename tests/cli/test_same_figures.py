"""Two commands that show the same figure show the same digits, and give a run the same rank."""

from __future__ import annotations

import itertools
import json
import math
import random
import re
import shutil
import subprocess

import pytest
from makers.effort import share
from makers.pages import overview_in
from makers.reported import unpacked
from makers.runs import make_run
from pfgen_fast.files.untrusted_text import signed
from pfgen_fast.report.templating import source
from pfgen_fast.statistics.mean_interval import quantile
from pfgen_fast.statistics.paired import paired_difference

HUMAN = "system/ground-truth"


@pytest.fixture(scope="module")
def checkout(tmp_path_factory, mini, varied):
    """A checkout in the layout of pfgen-bench: a yardstick has the best score, and two runs have the same score."""
    root = tmp_path_factory.mktemp("checkout")
    shutil.copytree(varied, root / "result")
    shutil.copytree(root / "result/org/model-1", root / "result/org/model-1-again")
    lines = [
        json.dumps({"question": question.question, "answer": question.answers["A"][k]})
        for k in range(3)
        for question in mini
    ]
    make_run(root / "data", lines, {"model": HUMAN, "mode": "system"})
    (root / "data/Q01.json").write_text("{}")
    return root


@pytest.fixture
def shown(call, checkout, tmp_path):
    """What each command shows of the runs, by their names."""
    code, _, err = call("score", "-s", "mini", checkout / "result", checkout / "data")
    assert code == 0, err
    call("report", "-s", "mini", checkout / "result", "-o", tmp_path / "report.html", "-q")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    overview = overview_in(page)
    scored = json.loads(call("score", "-s", "mini", checkout / "result", checkout / "data", "--json")[1])
    rows = json.loads(call("leaderboard", checkout / "result", "--json")[1])
    names = {row["run"]: row["run"].removeprefix(f"{checkout}/").removeprefix("result/") for row in rows}
    return {
        "score": {names[row["run"]]: row for row in scored},
        "page": page,
        "leaderboard": {names[row["run"]]: row for row in rows},
        "report": {run["name"]: run for run in overview["runs"]},
        "place": json.loads(call("place", checkout / "result", "--against", checkout / "result", "--json")[1]),
        "table": call("leaderboard", checkout / "result", "--plain")[1],
    }


def test_a_run_has_the_same_rank_and_the_same_ties_everywhere_and_a_yardstick_has_none(shown, call, checkout):
    ranks = {name: row["rank"] for name, row in shown["leaderboard"].items()}
    assert ranks["data"] is None
    assert sorted(rank for rank in ranks.values() if rank) == list(range(1, 8))
    assert {name: run["rank"] for name, run in shown["report"].items()} == ranks
    equal = {"org/model-1/abc": ranks["org/model-1-again/abc"]}  # `place` takes runs of equal trials for one run
    assert {one["run"]: one["rank"] for one in shown["place"]} == {**ranks, **equal}
    assert {one["of"] for one in shown["place"] if one["rank"]} == {6, 7}
    text = call("place", checkout / "result/org/model-2/abc", "--against", checkout / "result")[1]
    assert re.search(r"yardsticks, which have no rank: data \d\.\d{4}\n", text)

    ties = [run["tied"] for run in shown["report"].values() if run["rank"]]
    assert {tied[1] == rank for rank, tied in enumerate(ties[:-1], 1)} == {True, False}
    lines = [line.split() for line in shown["table"].splitlines()[1:9]]
    texts = {int(rank): tied for rank, _, _, tied, *_ in lines if rank != "-"}
    expected = [str(first) if first == last else f"{first}-{last}" for first, last in ties]
    assert [texts[rank] for rank in range(1, 8)] == expected


def test_a_run_has_the_same_scores_and_intervals_everywhere(shown):
    for name, row in shown["leaderboard"].items():
        run, scored = shown["report"][name], shown["score"][name]
        assert f"{row['score']:.4f}" == f"{scored['score']:.4f}" == f"{run['score']:.4f}"
        assert (row["score_low"], row["score_high"]) == (run["low"], run["high"])
        assert (row["score_low"], row["score_high"]) == (scored["score_low"], scored["score_high"])
        for metric in ("fluency", "truthfulness", "helpfulness", "length"):
            assert row[metric] == run[metric]


def in_node(data, expression):
    """What an expression of the page's own scripts gives."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("no node, which runs the scripts of pages")
    before = (
        f"const matchMedia = () => ({{}}), data = {json.dumps(data)};"
        f"const overview = {{ quantiles: {json.dumps([quantile(n - 1) for n in range(2, 60)])}, has_answers: true }};"
    )
    scripts = "".join(map(source, ("page.js", "report/intervals.js")))
    text = f"{before}{scripts}process.stdout.write(JSON.stringify({expression}));"
    done = subprocess.run([node, "-"], input=text, capture_output=True, text=True, check=True, encoding="utf-8")
    return json.loads(done.stdout)


def test_the_page_rounds_as_the_terminal_does():
    rng = random.Random(33)
    ties = [part / 2**power for power in range(8) for part in range(-20, 20)]
    values = [*ties, *(rng.uniform(-1, 1) * 10 ** rng.randint(-6, 5) for _ in range(share(3000)))]
    found = in_node(values, "data.map((x) => [0, 1, 3, 4].flatMap((n) => [figure(x, n), signed(x, n)]))")
    for value, texts in zip(values, found, strict=True):
        expected = [text for n in (0, 1, 3, 4) for text in (f"{value:.{n}f}", signed(value, n).replace("-", "−"))]
        assert texts == expected, value


def test_the_page_adds_and_compares_as_the_terminal_does():
    rng = random.Random(34)
    pairs = [
        [[round(rng.uniform(0, 1.2), rng.choice((1, 5))) for _ in range(n)] for _ in range(2)]
        for n in (rng.randint(2, 58) for _ in range(share(2000)))
    ]
    odd = [[[1e100, 1.0, -1e100, 2**-60], [0.0] * 4], [[1.0, 2**-53, 2**-106, 0.0], [0.0] * 4]]
    found = in_node([*pairs, *odd], "data.map(([a, b]) => [exactSum(a), pairedDifference(a, b)])")
    for (a, b), (total, difference) in zip([*pairs, *odd], found, strict=True):
        assert total == math.fsum(a)
        expected = paired_difference(a, b)
        assert difference["mean"] == expected.mean
        if expected.low is not None:
            ends = difference["mean"] - difference["half"], difference["mean"] + difference["half"]
            assert ends == pytest.approx((expected.low, expected.high), rel=1e-5, abs=1e-5)


def test_two_runs_are_compared_alike_on_the_page_and_in_the_terminal(shown, call, checkout):
    overview = list(shown["report"].values())
    more = unpacked(re.search(r'id="figures">(.*?)</script>', shown["page"])[1])
    names = [name for name in shown["report"] if name != "data"]
    for one, other in itertools.combinations(names, 2):
        runs = [list(shown["report"]).index(name) for name in (one, other)]
        found = json.loads(
            call("compare", *(checkout / "result" / name for name in (one, other)), "-s", "mini", "--json")[1]
        )
        for metric in found["metrics"]:
            own = "score" if metric["metric"] == "average" else metric["metric"]
            assert (metric["a"], metric["b"]) == tuple(overview[run][own] for run in runs)
            columns = [[of_runs[run] for of_runs in more[metric["metric"]]] for run in runs]
            expected = paired_difference(*columns)
            assert metric["difference"] == expected.mean
            assert (metric["low"], metric["high"]) == (expected.low, expected.high)
