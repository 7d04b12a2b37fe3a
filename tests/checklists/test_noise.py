"""How much of a score is noise, and what questions are good for."""

from __future__ import annotations

import json
import math
import random
from dataclasses import replace

import numpy as np
import pytest
from makers import own_checklists
from makers.judged_runs import changed, judged, made_suite, side, trembling, written
from pfgen_fast.checklists.reliability.judge_selection import JudgeSelection, counted_words
from pfgen_fast.checklists.reliability.noise import Noise, PartNoise, between_groups, partial
from pfgen_fast.checklists.reliability.noise_finding import noise_finding
from pfgen_fast.checklists.reliability.paired_judgements import pair
from pfgen_fast.checklists.runs import Answer, write_run
from pfgen_fast.checklists.tasks import LEVELS

SUITE = made_suite()
FIRST = judged(SUITE)


def measured(one, suite):
    """The noise of a side, with the numbers of words of its judgements."""
    words = {m: {key: rated[0].words for key, rated in x.items() if rated[0].words} for m, x in one.models.items()}
    return Noise(one, pair(one, one, suite), words)


def question(found, category, number):
    return next(one for one in found.questions if (one.question.labels[1], one.question.number) == (category, number))


def with_verdict(number, verdict):
    """A change that gives a question the verdict that a function says."""

    def change(_, one):
        scores = list(one.scores)
        scores[number] = verdict(one)
        return replace(one, scores=tuple(scores))

    return change


def test_half_widths_follow_from_deviations():
    part = PartNoise("p", n_tasks=100, n_ratings=2, between=20.0, within=10.0, apart=None)
    assert part.variance() == pytest.approx((400 + 50) / 100)
    assert part.half_width() == pytest.approx(1.984217 * math.sqrt(4.5), rel=1e-4)  # 99 degrees of freedom
    n = part.tasks_for(1.0)
    assert part.half_width(n / 100) <= 1.0 < part.half_width((n - 1) / 100)
    k = part.ratings_for(3.99)
    assert part.half_width(ratings=k) <= 3.99 < part.half_width(ratings=k - 1)
    assert part.ratings_for(1.0) is None
    assert PartNoise("p", 100, 1, 20.0, None, None).ratings_for(10.0) is None
    area = PartNoise("p", 2, 1, 20.0, None, 10.0)
    few = PartNoise("average", 6, 1, 20.0, None, 10.0, (area,) * 3)
    assert few.half_width() == pytest.approx(3.182446 * 20 / math.sqrt(6), rel=1e-4)
    assert few.half_width_of_difference == pytest.approx(few.half_width() / 2)
    n = few.tasks_for(10.0)
    assert few.half_width(n / 6) <= 10 < few.half_width((n - 1) / 6)
    assert few.tasks_for(1000.0) == 6
    of_both = 20 * math.sqrt(52) / 2 * math.sqrt(1 / 2 + 1 / 50)
    uneven = PartNoise("average", 52, 1, of_both, None, None, (area, PartNoise("q", 50, 1, 20.0, None, None)))
    assert uneven.half_width() == pytest.approx(11.0 * 20 * math.sqrt(0.52) / 2, rel=0.05)  # 1.08 degrees of freedom


def test_the_deviation_of_tasks_is_that_of_their_scores_and_an_average_counts_areas_alike():
    found = measured(side({"m": FIRST["beta"]}), SUITE)
    scores = [100 * sum(one.scores) for one in FIRST["beta"] if one.id.startswith("fable")]
    (part,) = (one for one in found.parts if one.name == "stories")
    assert part.between == pytest.approx(float(np.std(scores, ddof=1)))
    assert (part.within, part.half_width_of_difference, part.n_tasks) == (None, None, 12)


def test_several_ratings_separate_the_noise_of_ratings_from_the_noise_of_tasks():
    tremble = trembling(0.8, 4)
    several = {"m": [tremble("m", replace(one, rating=k)) for one in FIRST["beta"] for k in (1, 2, 3)]}
    several = changed(several, lambda _, one: replace(one, version="judge-1"))
    found = measured(side(several), SUITE)
    (part,) = (one for one in found.parts if one.name == "stories")
    scores = np.array([100 * sum(one.scores) for one in several["m"] if one.id.startswith("fable")]).reshape(-1, 3)
    assert part.n_ratings == 3
    within = scores.var(axis=1, ddof=1).mean()
    assert part.within == pytest.approx(math.sqrt(within))
    assert part.between == pytest.approx(math.sqrt(scores.mean(axis=1).var(ddof=1) - within / 3))
    assert "between ratings of the same answer" in noise_finding(found).paragraph
    found = measured(side(FIRST), SUITE)
    letters, stories = found.parts
    expected = (letters.variance() + stories.variance()) / 4
    assert found.average.variance() == pytest.approx(expected)
    n = found.average.tasks_for(5.0)
    assert found.average.half_width(n / found.average.n_tasks) == pytest.approx(5.0, rel=0.02)


def test_a_question_that_is_always_met_repeats_another_or_rewards_length_is_named():
    found = measured(side(changed(FIRST, with_verdict(1, lambda one: 1.0))), SUITE)
    one = question(found, "fable", 1)
    assert (one.mean, one.best, one.between_models, one.repeats, one.alone) == (1, 1, None, None, None)
    assert question(found, "fable", 0).between_models > 0.1
    found = measured(side(changed(FIRST, with_verdict(2, lambda one: one.scores[0]))), SUITE)
    one = question(found, "thanks", 2)
    assert (one.like, one.repeats) == (0, pytest.approx(1))
    assert "thanks" in noise_finding(found).paragraph
    longer = with_verdict(3, lambda one: LEVELS[min(4, one.words // 180)])
    found = measured(side(changed(FIRST, longer)), SUITE)
    one = question(found, "complaint", 3)
    assert one.words > 0.9
    assert one.words_alone > 0.9
    assert abs(question(found, "complaint", 0).words_alone) < 0.3
    assert "questions reward length" in noise_finding(found).paragraph


def test_the_last_question_alone_is_compared_with_the_score():
    same = changed(FIRST, lambda _, one: replace(one, scores=(one.scores[3],) * 4))
    explained, tables = measured(side(same), SUITE).last_alone
    assert explained == pytest.approx(1)
    assert tables.tau.value == 1
    draw = random.Random(0)
    none = changed(FIRST, with_verdict(3, lambda one: draw.choice(LEVELS)))
    assert measured(side(none), SUITE).last_alone[0] < 0.7


def test_the_share_between_groups_is_zero_by_chance():
    draw = np.random.default_rng(0)
    groups = np.repeat(np.arange(4), 25)
    shares = [between_groups(draw.normal(size=100), groups) for _ in range(300)]
    assert abs(float(np.mean(shares))) < 0.01
    assert between_groups(np.ones(4), np.array([0, 0, 1, 1])) is None
    assert between_groups(np.arange(3.0), np.zeros(3, dtype=int)) is None


def test_partial_correlations_are_those_of_residuals():
    draw = np.random.default_rng(1)
    z = draw.normal(size=200)
    x, y = z + draw.normal(size=200), z + draw.normal(size=200)
    residuals = [column - np.polyval(np.polyfit(z, column, 1), z) for column in (x, y)]
    xy, xz, yz = (np.corrcoef(a, b)[0, 1] for a, b in ((x, y), (x, z), (y, z)))
    assert partial(xy, xz, yz) == pytest.approx(np.corrcoef(*residuals)[0, 1])
    assert partial(0.5, None, 0.1) is None


def test_one_model_without_words_has_few_figures():
    found = noise_finding(measured(side({"m": [replace(one, words=None) for one in FIRST["alpha"]]}), SUITE))
    assert any("there is only one model" in note for note in found.notes)
    assert any("numbers of words are unknown" in note for note in found.notes)
    assert "reward length" not in found.paragraph
    assert [table.name for table in found.tables] == ["parts", "questions"]


def test_the_command_prints_and_writes_its_finding_and_mixes_versions_only_with_an_option(tmp_path, call):
    suite, path = own_checklists.written(SUITE, tmp_path / "suite"), written(tmp_path / "runs", FIRST)
    code, printed, _ = call("checklists", "noise", path, "--suite", suite, "--wanted", "5", "-o", tmp_path / "out")
    assert code == 0
    assert "±5 would need" in printed
    assert (tmp_path / "out" / "noise.html").exists()
    both = {m: [*x[:20], *(replace(one, version="judge-2") for one in x[20:])] for m, x in FIRST.items()}
    path = written(tmp_path / "both", both)
    code, _, said = call("checklists", "noise", path, "--suite", suite)
    assert code == 2
    assert "noise needs the judgements of one version of a judge, not 2: " in said
    assert len(json.loads(call("checklists", "noise", path, "--suite", suite, "--mixed", "--json")[1])["tables"]) == 3


def test_words_are_counted_where_they_are_not_published(tmp_path):
    answers = [Answer(one.id, "word " * n) for n, one in enumerate(FIRST["alpha"], start=1)]
    rows = [
        replace(one, response_sha256=answer.sha256, words=None if number else 77)
        for number, (one, answer) in enumerate(zip(FIRST["alpha"], answers, strict=True))
    ]
    write_run(tmp_path / "alpha", answers, rows, {})
    (side,) = JudgeSelection(SUITE).together([tmp_path])
    assert list(counted_words([tmp_path], side, SUITE)["alpha"].values()) == [77, *range(2, 37)]
