"""Two commands that show the same figure show the same digits, and give a run the same rank."""

import json
import math
import random
import re
import shutil
import subprocess
from collections import Counter

import numpy as np
import pytest
from makers.effort import share
from makers.pages import overview_in
from makers.reported import unpacked
from makers.runs import make_run
from pfgen_fast.base.table import bearing_digits, figure, signed
from pfgen_fast.report.pages import source
from pfgen_fast.runs.statistics.paired_tests import against, paired_difference
from pfgen_fast.runs.statistics.verdicts import SENTENCES, decided
from scipy.special import stdtrit

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
        "table": call("leaderboard", checkout / "result")[1],
    }


def test_a_run_has_the_same_rank_and_the_same_range_everywhere_and_a_yardstick_has_none(shown, call, checkout):
    ranks = {name: row["rank"] for name, row in shown["leaderboard"].items()}
    assert ranks["data"] is None
    again = ranks["org/model-1-again/abc"]  # the same trials under another name, and so the same rank
    assert sorted(rank for rank in ranks.values() if rank) == sorted([*{*range(1, 8)} - {again + 1}, again])
    assert {name: run["rank"] for name, run in shown["report"].items()} == ranks
    assert {item["run"]: item["rank"] for item in shown["place"]} == ranks
    assert {item["of"] for item in shown["place"] if item["rank"]} == {6, 7}
    text = call("place", checkout / "result/org/model-2/abc", "--against", checkout / "result")[1]
    assert re.search(r"yardsticks, which have no rank: data \d\.\d{4}\n", text)

    ranges = {name: run["ranks"] for name, run in shown["report"].items() if run["rank"]}
    assert {high == rank for rank, (_, high) in enumerate(ranges.values(), 1)} == {True, False}
    rank_ranges = {item["run"]: [item["rank_low"], item["rank_high"]] for item in shown["place"] if item["of"] == 7}
    del rank_ranges["data"]  # the yardstick
    assert rank_ranges == {name: ranges[name] for name in rank_ranges}
    lines = [line.split() for line in shown["table"].splitlines()[1:9]]
    texts = [text for rank, _, _, _, _, _, text, *_ in lines if rank != "–"]
    expected = [str(low) if low == high else f"{low}–{high}" for low, high in ranges.values()]
    assert texts == expected


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
        "const matchMedia = () => ({}), document = { querySelectorAll: () => [], getElementById: () => null };"
        f"const data = {json.dumps(data)};"
        f"const overview = {{ has_parts: true, min_questions: 6, sentences: {json.dumps(SENTENCES)} }}, SIGN = 1;"
        "const WORDS = { question: 'question', questions: 'questions' };"
    )
    scripts = "".join(map(source, ("page.js", "report/distributions.js", "report/intervals.js")))
    text = f"{before}{scripts}process.stdout.write(JSON.stringify({expression}));"
    done = subprocess.run([node, "-"], input=text, capture_output=True, text=True, check=True, encoding="utf-8")
    return json.loads(done.stdout)


def test_the_page_rounds_as_the_terminal_does():
    rng = random.Random(33)
    ties = [part / 2**power for power in range(8) for part in range(-20, 20)]
    values = [*ties, *(rng.uniform(-1, 1) * 10 ** rng.randint(-6, 5) for _ in range(share(3000)))]
    actual = in_node(values, "data.map((x) => [0, 1, 3, 4].flatMap((n) => [figure(x, n), signed(x, n)]))")
    for value, texts in zip(values, actual, strict=True):
        expected = [text for n in (0, 1, 3, 4) for text in (figure(value, n), signed(value, n))]
        assert texts == expected, value


def test_a_share_has_the_digits_on_the_page_that_it_has_in_the_terminal():
    halves = [0.0, 1e-5, 0.00099, 0.001, 0.0123, 0.0999, 0.1, 0.21, 0.5, 1.0, 12.0]
    assert in_node(halves, "data.map((half) => bearingDigits(half))") == list(map(bearing_digits, halves))


def test_the_page_adds_as_the_terminal_does():
    rng = random.Random(34)
    lists = [[round(rng.uniform(0, 1.2), rng.choice((1, 5))) for _ in range(rng.randint(2, 58))] for _ in range(200)]
    lists += [[1e100, 1.0, -1e100, 2**-60], [1.0, 2**-53, 2**-106, 0.0]]
    assert in_node(lists, "data.map(exactSum)") == list(map(math.fsum, lists))


def assert_close(actual, expected):
    """Checks figures, some of which may be None."""
    numbers = ([math.nan if value is None else value for value in values] for values in (actual, expected))
    np.testing.assert_allclose(*numbers, rtol=1e-9, atol=1e-12)


def families():
    """First runs with other runs: with and without clusters, gaps, spread and enough questions, and of 0 and 1."""
    rng = random.Random(35)
    for number in range(200):
        n, is_binary = rng.randint(2, 40), number % 4 == 0
        clusters = [rng.randint(0, n // 2) for _ in range(n)] if number % 4 == 1 else None

        def drawn(share, n, is_binary=is_binary):
            return [float(rng.random() < share) if is_binary else round(rng.uniform(0, 1), 3) for _ in range(n)]

        first = drawn(rng.choice((0.1, 0.9)), n)
        others = []
        for _ in range(rng.randint(1, 5)):
            shift, n_alike = rng.choice((0, -0.4, 0.05, 0.4)), rng.choice((1, n // 2, n))
            values = first[:n_alike] + drawn(rng.choice((0.1, 0.9)), n - n_alike)
            others.append(values if is_binary else [x + shift if x < 0.97 else None for x in values])
        yield first, others, clusters, is_binary


def test_the_page_decides_as_the_terminal_does():
    result = in_node(
        list(families()),
        """data.map(([first, others, clusters, isBinary]) =>
          decided(others.map((other) => pairedDifference(first, other, { clusters, isBinary })))
            .map((one) => ({ ...one, text: verdictText(one, "A", "B") })))""",
    )
    texts = Counter()
    for (first, others, clusters, is_binary), page_row in zip(families(), result, strict=True):
        values = [[math.nan if x is None else x for x in other] for other in others]
        pairs = [paired_difference(first, other, clusters=clusters, binary=is_binary) for other in values]
        for pair, verdict, shown in zip(pairs, decided(pairs), page_row, strict=True):
            assert (shown["mean"], shown["n"], shown["differs"]) == (pair.mean, pair.n, verdict.differs)
            figures = (shown["p"], shown["corrected"], *(shown["ends"] or [None, None]))
            assert_close(figures, (pair.p_value, verdict.p_corrected, verdict.low, verdict.high))
            assert shown["text"] == verdict.sentence()
            texts[shown["text"][:6], is_binary, clusters is None] += 1
    assert len(texts) == 12, texts


def test_the_page_weights_strata_as_the_terminal_does():
    rng = random.Random(36)

    def drawn(n, shift):
        return [None if rng.random() < 0.1 else round(rng.gauss(shift, 1), 3) for _ in range(n)]

    cases = [(drawn(n, 0.3), drawn(n, 0), [rng.randrange(3) for _ in range(n)]) for n in range(12, 60)]
    pair = "const pair = pairedDifference(a, b, { strata });"
    ends = "[pair.mean, pair.p, ...(pair.interval(0.05) ?? [null, null])]"
    result = in_node(cases, f"data.map(([a, b, strata]) => {{ {pair} return {ends}; }})")
    for case, row in zip(cases, result, strict=True):
        a, b, strata = (np.array(values, dtype=np.float64) for values in case)
        parts = [strata == stratum for stratum in range(3)]
        tested = against([a[part] for part in parts], [b[part][np.newaxis] for part in parts])
        half = stdtrit(tested.degrees, 0.975) * tested.errors
        expected = (tested.means, tested.p_values, tested.means - half, tested.means + half)
        assert_close(row, [float(value[0]) for value in expected])


def test_runs_are_compared_alike_on_the_page_and_in_the_terminal(shown, call, checkout):
    more = unpacked(re.search(r'id="figures">(.*?)</script>', shown["page"])[1])
    names = [name for name in shown["report"] if name != "data"]
    compared = json.loads(call("compare", *(checkout / "result" / name for name in names), "-s", "mini", "--json")[1])
    places = [list(shown["report"]).index(name) for name in names]
    for metric in dict.fromkeys(row["metric"] for row in compared["metrics"]):
        columns = [[run_values[place] for run_values in more[metric]] for place in places]
        result = in_node(columns, "decided(data.slice(1).map((other) => pairedDifference(data[0], other)))")
        rows = [row for row in compared["metrics"] if row["metric"] == metric]
        for row, page_row in zip(rows, result, strict=True):
            assert (row["difference"], row["differs"]) == (page_row["mean"], page_row["differs"])
            figures = row["p_corrected"], row["low"], row["high"]
            assert_close(figures, (page_row["corrected"], *(page_row["ends"] or [None, None])))
        own = "score" if metric == "average" else metric
        assert rows[0]["a"] == shown["report"][names[0]][own]
        assert [row["b"] for row in rows] == [shown["report"][name][own] for name in names[1:]]
