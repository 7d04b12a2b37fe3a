"""`pfgen-fast annotate`: what annotators get, what stays hidden, and what is refused."""

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from makers.own_checklists import own_suite, written
from makers.pages import embedded
from pfgen_fast.base.errors import DiscernmentError
from pfgen_fast.lab.annotations.annotation_plan import assign, make_plan
from pfgen_fast.lab.annotations.annotation_rows import Asked, Header, export_lines
from pfgen_fast.lab.checklists.checklist_runs import Answer, open_runs, write_run
from pfgen_fast.lab.checklists.judgements import Judgement
from pfgen_fast.lab.checklists.people_items import judgement_items, mark_items, pair_items
from pfgen_fast.lab.discernment.votes import vote_items
from pfgen_fast.lab.evaluators.criteria import read_criteria

SUITE = own_suite()
TASKS = {task.key for task in SUITE.tasks if task.length is None}
MODELS = ("secret_one", "secret_two", "secret_three")
JUDGE = "secret_judge"


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """Runs of three models on four tasks; two models gave the same answer to the last one."""
    for model in MODELS:
        answers, judgements = [], []
        for task in SUITE.tasks:
            if task.key in TASKS:
                same = task.id == "report_2" and model != MODELS[0]
                answers.append(Answer(task.id, f"{'same' if same else model[7:]} answer to {task.id}"))
                scores = (0.5,) * SUITE.n_questions[task.key]
                judgements.append(
                    Judgement(task.id, answers[-1].sha256, scores, judge=JUDGE, reasons=("why",) * len(scores))
                )
        write_run(tmp_path / "runs" / model, answers, judgements, {"model": f"org/{model}"})
    return tmp_path / "runs"


def assigned(items: Any, names: list[str], **options: Any) -> Any:
    asked = Asked("own", "0" * 64, "en", "", ())
    return make_plan(items, names, asked, **{"overlap": 0.5, **options})


def test_equal_answers_are_one_item_and_no_pair(runs: Path) -> None:
    opened = open_runs([runs])
    n_tasks = len(TASKS)
    assert len(mark_items(SUITE, opened)) == 3 * n_tasks - 1
    assert sum(len(item.source) == 2 for item in mark_items(SUITE, opened)) == 1
    # The pair of the two equal answers is none, and each of them makes the same pair with the third.
    assert len(pair_items(SUITE, opened)) == 3 * n_tasks - 2
    assert len(pair_items(SUITE, opened, reference=MODELS[1])) == 2 * n_tasks - 1
    assert len(judgement_items(SUITE, opened)) == 3 * n_tasks - 1


def test_a_sheet_hides_models_and_judges_and_orders_pairs_at_random(runs: Path) -> None:
    opened = open_runs([runs])
    items = [make(SUITE, opened) for make in (mark_items, pair_items, judgement_items)]
    plan = assigned([item for some in items for item in some], ["a", "b"], overlap=1)
    assert "secret" not in json.dumps([sheet.items for sheet in plan.sheets])
    assert JUDGE in json.dumps(plan.record)
    kinds = [item["kind"] for item in plan.sheets[0].items]
    assert kinds == sorted(kinds, key=["mark", "pair", "judgement"].index)
    first, second = ({self_key(item): item for item in sheet.items if item["kind"] == "pair"} for sheet in plan.sheets)
    n_swapped = sum(first[key]["first"] != second[key]["first"] for key in first)
    assert 0 < n_swapped < len(first)
    for sheet in plan.sheets:
        for item in sheet.items:
            assert item["kind"] != "pair" or item["first"] != item["second"]
    assert assigned(items[0], ["a", "b"]).sheets == assigned(items[0][::-1], ["a", "b"]).sheets


def self_key(item: Any) -> Any:
    return item["id"], frozenset((item["first_sha256"], item["second_sha256"]))


def test_the_command_writes_a_page_for_each_annotator_and_the_same_again(call: Any, runs: Path, tmp_path: Path) -> None:
    suite = written(SUITE, tmp_path / "suite")
    command = ("annotate", suite, runs, "--annotators", "3", "--overlap", "0.5", "-o", tmp_path / "people")
    code, printed, _ = call(*command)
    assert code == 0
    assert printed.startswith("14 items for 3 annotators, 7 of them for all: 9 to 10 on each page")
    pages = sorted((tmp_path / "people" / "pages").iterdir())
    before = [page.read_bytes() for page in pages]
    assert [page.name for page in pages] == ["a1.html", "a2.html", "a3.html"]
    assert not any(b"secret" in page for page in before)
    assert call(*command, "--quiet")[:2] == (0, "")
    assert [page.read_bytes() for page in pages] == before
    code, _, err = call(*command, "--seed", "1")
    assert code == 2
    assert "plan.json: the plan of other runs, options or another suite" in err


def test_a_guideline_of_the_suite_is_shown_before_ours(call: Any, runs: Path, tmp_path: Path) -> None:
    suite = written(SUITE, tmp_path / "suite")
    for number, text in enumerate(("What to do", "Own rules")):
        if number == 1:
            (suite / "guideline.md").write_text("# Own rules\n", encoding="utf-8")
        assert call("annotate", suite, runs, "-o", tmp_path / f"people{number}")[0] == 0
        assert text in (tmp_path / f"people{number}" / "pages" / "a1.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("ask", "heads"),
    [
        ("marks", {"Verdicts", "Overall mark", "Edge cases"}),
        ("pairs", {"Two answers"}),
        ("judgements", {"Verdicts of a judge"}),
        ("instructions", set()),
    ],
)
def test_a_guideline_has_only_the_sections_of_its_question(
    call: Any, runs: Path, tmp_path: Path, ask: str, heads: set[str]
) -> None:
    suite = written(SUITE, tmp_path / "suite")
    assert call("annotate", suite, runs, "--ask", ask, "-o", tmp_path / "people")[0] == 0
    page = (tmp_path / "people/pages/a1.html").read_text(encoding="utf-8")
    guideline = json.loads(embedded(page)["sheet"])["guideline"]
    heads |= {"What to do", "Unclear items", "Order and breaks"}
    heads |= set() if ask == "instructions" else {"What you know, and what you do not know"}
    assert sorted(re.findall(r'<h3 class="level-1">([^<]*)</h3>', guideline)) == sorted(heads)
    assert guideline.count("<li><strong>") == (6 if ask == "marks" else 0)  # the bands of the overall mark


def test_instructions_are_asked_about_alone_and_pairs_show_the_checklist(call: Any, runs: Path, tmp_path: Path) -> None:
    suite = written(SUITE, tmp_path / "suite")
    command = ("annotate", suite, "--ask", "instructions", "--annotators", "2", "--question", "Is it short?")
    code, printed, _ = call(*command, "-o", tmp_path / "alone")
    assert (code, printed.split(":")[0]) == (0, f"{len(TASKS)} items for 2 annotators, {len(TASKS)} of them for all")
    sheet = json.loads(embedded((tmp_path / "alone/pages/a1.html").read_text(encoding="utf-8"))["sheet"])
    assert all(list(item["texts"]) == ["instruction"] for item in sheet["items"])
    assert json.loads(sheet["items"][0]["row"])["question"] == "Is it short?"
    assert call("annotate", suite, runs, "--ask", "pairs", "-o", tmp_path / "pairs")[0] == 0
    sheet = json.loads(embedded((tmp_path / "pairs/pages/a1.html").read_text(encoding="utf-8"))["sheet"])
    for item in sheet["items"]:
        assert tuple(item["questions"]) == SUITE.checklist(SUITE.by_key[json.loads(item["row"])["id"], None]).questions


def test_experts_vote_on_all_kinds_of_damage_and_the_survey_is_read(call: Any, tmp_path: Path) -> None:
    code, printed, _ = call("annotate", "--ask", "votes", "--annotators", "2", "--language", "ja", "-o", tmp_path / "v")
    assert (code, printed.split(":")[0]) == (0, "69 items for 2 annotators, 69 of them for all")
    for name, metric in (("a1", "fluency"), ("a2", "coherence")):
        rows = [{"kind": "vote", "task": "story", "perturbation": "char_typo", "metric": metric}]
        rows += [{**rows[0], "perturbation": "negate", "metric": None}, {"kind": "pair", "choice": "tie"}]
        (tmp_path / f"{name}.jsonl").write_bytes(export_lines(Header(name, "kinds of damage", ""), rows))
    code, printed, err = call(
        "discern", "votes", *(tmp_path / f"{name}.jsonl" for name in ("a1", "a2", "a1")), "-o", tmp_path / "w.csv"
    )
    assert code == 0
    assert "story: 2 voters, 1 kind of damage" in printed
    assert "items without a vote, left out" in err
    assert "rows about answers not used here: the 'checklists' commands read them" in err
    assert "story,char_typo,fluency,0.5,1" in (tmp_path / "w.csv").read_text(encoding="utf-8")


def test_experts_vote_on_the_kinds_and_tasks_of_plans_with_an_example_of_each_task() -> None:
    items = vote_items(read_criteria(), plans=["summeval", "WMT-22 de-en", "WMT-22 zh-en"])
    asked = [(item.content["task"], item.content["perturbation"]) for item in items]
    ours = ["char_delete", "char_typo", "fictional_entity", "grammar_error"]
    assert [kind for task, kind in asked if task == "summarization"] == [*ours, "sentence_reorder", "rewrite_insert"]
    assert sorted(kind for task, kind in asked if task == "translation") == sorted([*ours, "word_delete"])
    assert len(asked) == 11
    before = {item.content["task"]: item.content["before"] for item in items if item.content["after"]}
    assert len(set(before.values())) == 2
    chosen = vote_items(read_criteria(), plans=["Story Cloze Test"], kinds=["random_ending"], language="ja")
    assert [(item.content["task"], item.content["perturbation"]) for item in chosen] == [("story", "answer_swap")]
    with pytest.raises(DiscernmentError, match="nothing to vote on: expected the plan of a task with several metrics"):
        vote_items(read_criteria(), plans=["Answer Equivalence"])
    with pytest.raises(DiscernmentError, match="unknown kind of damage 'identity'; expected one of char_delete, "):
        vote_items(read_criteria(), kinds=["identity"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--plan", "SummEval"), "--plan: expected with --ask votes"),
        (("--ask", "pairs", "--reference", "secret_on"), "--reference: unknown run 'secret_on'"),
        (("--question", "Is it short?"), "--question: expected with --ask instructions"),
        (("--ask", "votes"), "--ask votes: expected without a suite, runs and other questions"),
        (("--annotators", "15"), "15 annotators for 14 items: expected at least one item for each annotator"),
        (("--overlap", "-0.1"), "--overlap -0.1: expected a share from 0 to 1"),
    ],
)
def test_bad_input_is_one_sentence(
    call: Any, runs: Path, tmp_path: Path, options: tuple[str, ...], message: str
) -> None:
    suite = written(SUITE, tmp_path / "suite")
    code, printed, err = call("annotate", suite, runs, "-o", tmp_path / "people", *options)
    assert (code, printed) == (2, "")
    assert err.startswith(f"error: {message}")
    assert err.count("\n") == 1
    assert not (tmp_path / "people").exists()


# ---- Who gets which items: the shares, the balance, and that only options, seed and items decide


STRATA = st.lists(st.sampled_from("abcd"), min_size=6, max_size=60)


@given(STRATA, st.integers(1, 6), st.floats(0, 1), st.integers(0, 3))
def test_all_see_shared_items_and_one_sees_each_other_item_and_all_are_balanced(strata, n_annotators, overlap, seed):
    strata = [(name,) for name in strata]
    keys, names = [f"item {number}" for number in range(len(strata))], [f"a{number}" for number in range(n_annotators)]
    result = assign(keys, strata, names, overlap=overlap, seed=seed)
    seen = Counter(item for items in result.items.values() for item in items)
    assert set(seen) == set(range(len(keys)))
    assert len(result.shared) == (round(overlap * len(keys)) if n_annotators > 1 else 0)
    assert all(seen[item] == (n_annotators if item in set(result.shared) else 1) for item in seen)
    assert all(len(set(items)) == len(items) for items in result.items.values())
    sizes = list(map(len, result.items.values()))
    assert max(sizes) - min(sizes) <= 1


def test_the_assignment_depends_on_the_seed_and_the_items_but_not_on_their_order():
    keys, names = [f"item {number}" for number in range(40)], ["a", "b", "c"]

    def assigned(order, seed=0):
        result = assign(
            [keys[item] for item in order], [(str(item % 4),) for item in order], names, overlap=0.25, seed=seed
        )
        return {name: [keys[order[item]] for item in items] for name, items in result.items.items()}

    first = assigned(range(40))
    assert assigned(range(39, -1, -1)) == first
    assert assigned(range(40), seed=1) != first
    shared = set(first["a"]) & set(first["b"]) & set(first["c"])
    assert len(shared) == 10
    # Shared items have another order for each annotator.
    assert len({tuple(item for item in first[name] if item in shared) for name in names}) == 3
