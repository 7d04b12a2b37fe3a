"""Scores of models: which judgements count, what they come to, and what is said of those that do not count."""

from dataclasses import replace

import numpy as np
import pytest
from makers.checklists_to_judge import N_TASKS, suite
from pfgen_fast.base.errors import ChecklistError
from pfgen_fast.lab.checklists.checklist_runs import Answer, open_runs, write_run
from pfgen_fast.lab.checklists.checklist_scoring import ScoredPart, score_judged_runs
from pfgen_fast.lab.checklists.checklist_suite import hashes_of
from pfgen_fast.lab.checklists.judgements import Judgement
from pfgen_fast.lab.checklists.tasks import Rescaling, sha256_of

SUITE = suite()
IDS = [task.id for task in SUITE.tasks]
TALES, LETTERS = IDS[::2], IDS[1::2]  # lists of three questions (50, 30, 20) and of two (60, 40)


def judgement(id, *scores, **changes):
    return Judgement(id, changes.pop("sha", "0" * 64), scores or None, **{"judge": "j", **changes})


def good(*, without=(), **changes):
    """A judgement of every answer: 50 in tales, 60 in letters."""
    verdicts = {**dict.fromkeys(TALES, (1.0, 0.0, 0.0)), **dict.fromkeys(LETTERS, (1.0, 0.0))}
    return [judgement(id, *verdicts[id], **changes) for id in sorted(verdicts) if id not in without]


def score(folder, *, scored_by=SUITE, answers=(), judgements=None, **settings):
    runs = {"model": judgements} if not isinstance(judgements, dict) else judgements
    for name, rows in runs.items():
        write_run(folder / name, answers, rows, {"model": name})
    return score_judged_runs(scored_by, open_runs([folder / name for name in runs]), **settings)


def test_a_score_is_the_weighted_sum_and_an_area_the_mean(tmp_path):
    (model,) = score(tmp_path, judgements=good()).models
    tales, letters = model.areas["tales"], model.areas["letters"]
    assert (tales.n, tales.score, tales.rescaled) == (6, 50.0, -100.0)
    assert (letters.score, letters.rescaled, letters.rescaled_plain) == (60.0, -60.0, -100.0)
    assert tales.rescaled_plain == pytest.approx((100 / 3 - 75) * 4)
    assert model.categories["tales", "short"].score == 50.0
    assert list(model.areas) == ["tales", "letters"]
    few = score(tmp_path / "few", judgements=good(without=LETTERS[1:])).models[0]
    average = few.average
    assert average.rescaled == -80.0  # areas count alike
    assert average.rescaled_over_answers == pytest.approx((-600 - 60) / 7)


def test_missing_answers_are_left_out_or_zero(tmp_path):
    rows = good(without=TALES[:2])
    skip, zero = (score(tmp_path, judgements=rows, missing=rule).models[0].areas["tales"] for rule in ("skip", "zero"))
    assert skip.gaps["missing"] == zero.gaps["missing"] == tuple(TALES[:2])
    assert skip.n == zero.n == 4
    assert (skip.rescaled, skip.rescaled_missing_as_zero) == (-100.0, pytest.approx((200 / 6 - 75) * 4))
    assert zero.rescaled == skip.rescaled_missing_as_zero
    assert zero.score == pytest.approx(200 / 6)
    assert zero.rescaled_missing_as_zero == zero.rescaled
    (model,) = score(tmp_path, judgements=rows, missing="zero").models
    assert "|missing:zero|" in model.signature


def test_without_a_judged_answer_an_area_has_no_score_and_the_model_no_average(tmp_path):
    for rule in ("skip", "zero"):
        models = {"a": good(without=TALES), "b": good(), "c": good(without=TALES)}
        scores = score(tmp_path, judgements=models, missing=rule)
        assert [model.model for model in scores.models] == ["b", "a", "c"]
        assert [model.place for model in scores.models] == [1, None, None]
        assert [model.ranks for model in scores.models] == [(1, 1), None, None]
        without = scores.models[1]
        assert without.areas["tales"] == ScoredPart(gaps={**ScoredPart().gaps, "missing": tuple(TALES)})
        assert without.average == type(without.average)()
        assert without.areas["letters"].score == 60.0


def test_an_unjudged_answer_is_neither_missing_nor_zero(tmp_path):
    rows = [*good(without=TALES[:1]), judgement(TALES[0], fault="form", tries=3)]
    part = score(tmp_path, judgements=rows).models[0].areas["tales"]
    assert (part.n, part.gaps["unjudged"], part.gaps["missing"]) == (5, (TALES[0],), ())
    assert part.rescaled_missing_as_zero == part.rescaled == -100.0


def test_an_answer_that_our_judge_was_not_asked_about_yet_is_unjudged_and_never_a_zero(tmp_path):
    rows, answers = good(without=TALES[:2], sha=sha256_of("text")), with_answers(dict.fromkeys(IDS[1:], "text"))
    imported = score(tmp_path, judgements=rows, answers=answers).models[0].areas["tales"]
    assert (imported.gaps["missing"], imported.gaps["unjudged"]) == (tuple(TALES[:2]), ())
    (tmp_path / "model" / "judge-replies.jsonl").touch()
    part = score_judged_runs(SUITE, open_runs([tmp_path / "model"]), missing="zero").models[0].areas["tales"]
    assert (part.gaps["missing"], part.gaps["unjudged"]) == ((TALES[0],), (TALES[1],))
    assert part.score == pytest.approx(40)  # of 50 four times and a zero: what has no answer at all


def with_answers(texts):
    return [Answer(id, text) for id, text in texts.items()]


def test_a_judgement_of_another_text_is_stale(tmp_path):
    texts = {id: f"text {id}" for id in IDS}
    rows = [replace(row, response_sha256=sha256_of(texts[row.id])) for row in good()]
    texts[TALES[0]] = "another text"
    del texts[LETTERS[0]]
    scores = score(tmp_path, judgements=[judgement(TALES[1], 1, 1, 1), *rows], answers=with_answers(texts))
    (model,) = scores.models
    assert model.areas["tales"].gaps["stale"] == (TALES[0],)  # and not the other, of which there is a new judgement
    assert model.areas["letters"].gaps["stale"] == (LETTERS[0],)
    assert (scores.n("stale"), scores.n("missing"), scores.n("unjudged")) == (2, 0, 0)
    (tmp_path / "model" / "answers.jsonl").write_bytes(b"")
    assert score_judged_runs(SUITE, open_runs([tmp_path / "model"])).n("stale") == N_TASKS


def test_ratings_are_averaged_but_two_judgements_of_unknown_texts_are_an_error(tmp_path):
    with pytest.raises(ChecklistError, match="T00: two different judgements"):
        score(tmp_path, judgements=[*good(), judgement("T00", 1, 1, 1, sha="1" * 64)])
    rows = [*good(), *(judgement(id, 0, 1, 0, rating=2) for id in TALES)]
    (model,) = score(tmp_path, judgements=rows).models
    assert (model.areas["tales"].score, model.areas["tales"].n) == (40.0, 6)
    assert model.answers[0].verdicts == (0.5, 0.5, 0.0)


def test_trials_count_alike_and_missing_ones_are_named(tmp_path):
    rows = [*good(), *good(trial=2, without=TALES[:1])]
    (model,) = score(tmp_path, judgements=rows).models
    assert model.areas["tales"].n == 11
    assert model.areas["tales"].gaps["missing"] == (f"{TALES[0]} (trial 2)",)
    assert model.areas["tales"].rescaled_missing_as_zero == pytest.approx((550 / 12 - 75) * 4)


def test_several_judges_must_be_named(tmp_path):
    rows = [*good(), *good(judge="strict")[:3]]
    with pytest.raises(ChecklistError, match=r"judgements of 2 judges: 'j', 'strict'; name one"):
        score(tmp_path, judgements=rows)
    assert score(tmp_path, judgements=rows, judge="strict").models[0].areas["tales"].n == 2
    with pytest.raises(ChecklistError, match="no judgements of the judge 'x'; expected one of 'j', 'strict'"):
        score(tmp_path, judgements=rows, judge="x")


def test_versions_of_a_judge_are_not_mixed_by_accident(tmp_path):
    models = {"a": good(version="j-2024-08-06"), "b": good(version="j-2025-01-01")}
    with pytest.raises(ChecklistError, match=r"2 versions or prompts of the judge 'j': j-2024-08-06; j-2025-01"):
        score(tmp_path, judgements=models)
    scores = score(tmp_path, judgements=models, mixed=True)
    assert any("2 versions or prompts of the judge are mixed" in note for note in scores.notes)
    item = score(tmp_path, judgements=models, judge="j-2025-01-01")
    assert [model.model for model in item.models if model.average.rescaled is not None] == ["b"]
    assert "judge:j (j-2025-01-01)" in item.models[0].signature


PROMPT, OTHER_PROMPT = sorted(hashes_of(SUITE).prompts["checklist"])[:2]


@pytest.mark.parametrize("changes", [{"prompt_sha256": OTHER_PROMPT}, {"profile": "upstream"}, {"temperature": 0.8}])
def test_prompts_profiles_and_temperatures_are_not_mixed_by_accident(tmp_path, changes):
    with pytest.raises(ChecklistError, match="2 versions or prompts"):
        score(tmp_path, judgements={"a": good(prompt_sha256=PROMPT), "b": good(**{"prompt_sha256": PROMPT, **changes})})


def test_an_overall_rating_is_a_score_of_ten_times_as_much(tmp_path):
    with pytest.raises(ChecklistError, match="no run has judgements by the method llm-eval; ask a judge first"):
        score(tmp_path / "none", judgements=good(), method="llm-eval")
    rows = [*good(), *(judgement(id, 7.5, method="llm-eval") for id in IDS)]
    (model,) = score(tmp_path, judgements=rows, method="llm-eval").models
    assert (model.areas["tales"].score, model.average.rescaled) == (75.0, 0.0)
    assert "|weights:none|method:llm-eval|" in model.signature


def test_equal_weights_are_the_plain_mean_and_are_said_and_a_suite_rescales_as_it_says(tmp_path):
    scores = score(tmp_path, judgements=good(), weights="equal")
    letters = scores.models[0].areas["letters"]
    assert (letters.score, letters.rescaled) == (50.0, letters.rescaled_plain)
    assert "|weights:equal|" in scores.models[0].signature
    assert any("Equal weights" in note for note in scores.notes)
    (model,) = score(tmp_path, scored_by=suite(rescaling=Rescaling(50, 2)), judgements=good()).models
    assert (model.areas["tales"].rescaled, model.areas["letters"].rescaled) == (0.0, 20.0)


def test_words_are_published_or_counted(tmp_path):
    texts = dict.fromkeys(IDS, "one two three")
    rows = [replace(row, response_sha256=sha256_of("one two three"), words=10) for row in good()]
    (published,) = score(tmp_path / "a", judgements=rows, answers=with_answers(texts)).models
    assert published.areas["tales"].words == 10
    assert published.signature.endswith("|words:published")
    rows = [replace(row, words=None) for row in rows]
    (counted,) = score(tmp_path / "b", judgements=rows, answers=with_answers(texts)).models
    assert counted.average.words == 3
    assert counted.signature.endswith("|words:regex")
    (unknown,) = score(tmp_path / "c", judgements=good()).models
    assert unknown.average.words is None
    assert unknown.signature.endswith("|words:none")


def with_lengths():
    tasks = [replace(task, length="2k", wanted_words=2000) for task in SUITE.tasks[:4]]
    return suite(tasks=(*SUITE.tasks, *tasks))


def test_lengths_are_scored_apart(tmp_path):
    rows = [*good(), *(replace(row, length="2k", words=1900 + 100 * n) for n, row in enumerate(good()[:3]))]
    (model,) = score(tmp_path, scored_by=with_lengths(), judgements=rows).models
    part = model.lengths["2k"]
    assert (part.n, part.gaps["missing"]) == (3, ("T03",))
    assert part.score == pytest.approx(160 / 3)
    assert (part.words, part.length.mean_absolute_length_error) == (2000, pytest.approx(200 / 3))
    assert part.length.mean_shortfall == pytest.approx(100 / 3)
    assert part.length.share_long_enough == pytest.approx(2 / 3)
    assert model.areas["tales"].n == 6
    some = [replace(row, words=None) if row.id == "T00" else row for row in rows]
    assert score(tmp_path, scored_by=with_lengths(), judgements=some).models[0].lengths["2k"].length is None
    assert score(tmp_path, scored_by=with_lengths(), judgements=good()).models[0].lengths == {}


def test_intervals_are_students_over_tasks_and_welchs_over_areas(tmp_path):
    """With percentiles of draws, six tasks covered 0.85: their spread lacks the factor 6 / 5 and Student's quantile."""
    stats = pytest.importorskip("scipy.stats")
    levels = np.random.default_rng(3).choice([0, 0.25, 0.5, 0.75, 1], (2, N_TASKS)).tolist()
    for rescaling in (Rescaling(75, 4), Rescaling(50, 1)):
        rows = [judgement(id, *[level] * (3 if id in TALES else 2)) for id, level in zip(IDS, levels[0], strict=True)]
        (model,) = score(tmp_path, scored_by=suite(rescaling=rescaling), judgements=rows).models
        by_area = [[rescaling(100 * levels[0][IDS.index(id)]) for id in area] for area in (TALES, LETTERS)]
        for part, values in zip(model.areas.values(), by_area, strict=True):
            ends = stats.t.interval(0.95, 5, np.mean(values), stats.sem(values))
            expected = np.clip(ends, rescaling(0), rescaling(100))
            assert part.interval == pytest.approx(expected.tolist())
        first, second = (np.array(values) for values in by_area)
        sums = stats.ttest_ind(first, -second, equal_var=False).confidence_interval()  # of the sum of the means
        assert model.average.interval == pytest.approx((sums.low / 2, sums.high / 2))
    trials = [*rows, *(replace(row, trial=2) for row in rows)]
    (of_trials,) = score(tmp_path / "2", scored_by=suite(rescaling=rescaling), judgements=trials).models
    assert of_trials.average == model.average
    alone = [row for row in rows if row.id not in LETTERS[1:]]  # an area with one task
    (model,) = score(tmp_path / "3", judgements=alone).models
    assert (model.areas["letters"].interval, model.average.interval) == (None, None)
    assert model.areas["tales"].interval is not None


def test_ranks_are_those_that_chance_allows(tmp_path):
    def some(n_worse):
        worse = [replace(row, verdicts=(0.0,) * len(row.verdicts)) for row in good()[:n_worse]]
        return [*worse, *good()[n_worse:]]

    scores = score(tmp_path, judgements={"best": good(), "next": some(1), "worst": some(11)})
    assert [model.model for model in scores.models] == ["best", "next", "worst"]
    assert [model.ranks for model in scores.models] == [(1, 2), (1, 2), (3, 3)]
    low, high = scores.models[1].average.interval
    assert low < scores.models[1].average.rescaled <= high
    assert scores.models[0].average.interval is None  # without spread


def test_equal_averages_share_the_mean_of_their_places_in_any_order_of_the_runs(tmp_path):
    scores = score(tmp_path, judgements={name: good() for name in "abc"} | {"d": good(without=["T00"])})
    assert [model.place for model in scores.models] == [2.5, 2.5, 2.5, 2.5]
    assert [model.model for model in scores.models] == ["a", "b", "c", "d"]
    turned = [replace(row, verdicts=row.verdicts[::-1]) for row in good()]
    models = {"a": good(), "b": good(without=["T03"]), "c": turned}
    item = score(tmp_path, judgements=models)
    other = score(tmp_path, judgements=dict(reversed(models.items())))
    assert item.models == other.models


def test_the_signature_names_everything_that_a_score_depends_on(tmp_path):
    rows = good(version="j-1", prompt_sha256=PROMPT, profile="plain", temperature=0)
    (model,) = score(tmp_path, judgements=rows).models
    parts = dict(part.split(":", 1) for part in model.signature.split("|"))
    del parts["checklists"]
    suite_parts = {"suite": f"small {SUITE.hash}", "questions": SUITE.checklists_hash, "weights": "suite"}
    judge_parts = {"method": "checklist", "judge": "j (j-1)", "prompt": PROMPT, "profile": "plain", "temperature": "0"}
    assert parts == {**suite_parts, **judge_parts, "missing": "skip", "words": "none"}
