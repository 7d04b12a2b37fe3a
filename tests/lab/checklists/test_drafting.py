"""`checklists draft`: experts propose, equal questions merge, voters choose, four to six stay, and a person edits."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from makers.checklists_to_judge import as_judge
from makers.fault_server import Reply, Request, serving
from pfgen_fast.lab.checklists.checklist_draft import Draft, Drafting, UnfinishedDraft
from pfgen_fast.lab.checklists.checklist_suite import ChecklistSuite
from pfgen_fast.lab.judging.judge_requests import Judge

PROPOSED = (
    "Is it kind?",
    "Is it  kind?",
    "Is it dated?",
    "Is it short?",
    "Is it nice?",
    "Is it signed?",
    "Is it green?",
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A suite without checklists."""
    (tmp_path / "suite.json").write_text('{"format": 1, "language": "en"}', encoding="utf-8")
    tasks = [{"id": f"T{n}", "area": "letters", "category": "thanks", "instruction": f"Thank {n}."} for n in range(9)]
    (tmp_path / "tasks.jsonl").write_text("".join(json.dumps(task) + "\n" for task in tasks), encoding="utf-8")
    return tmp_path


def reply_to(request: Request) -> Reply:
    """Proposals; `nice` repeats `kind`; a first vote that cannot be read, and then one for kind, dated and signed."""
    prompt = request.body["messages"][-1]["content"]
    numbers = {text: int(number) for number, text in re.findall(r"^(\d+)\. (.*)$", prompt, re.MULTILINE)}
    if "<tasks>" in prompt:
        assert len(set(re.findall(r"Thank \d\.", prompt))) == 5
        return as_judge(f"They are:\n```json\n{json.dumps(PROPOSED)}\n```")
    if "groups" in prompt:
        kind, nice = numbers["Is it kind?"], numbers["Is it nice?"]
        return as_judge(json.dumps([[kind, nice], [nice, kind]]))
    asked.append(request.body["seed"])
    chosen = [numbers[text] for text in ("Is it signed?", "Is it kind?", "Is it dated?")]
    return as_judge(json.dumps([99] if len(asked) == 1 else chosen))


asked: list[int] = []


def command(folder: Path, *options: str) -> tuple[Any, ...]:
    return ("checklists", "draft", folder, "--model", "m", "--experts", "2", "--voters", "3", *options)


def test_the_best_questions_stay_and_stored_replies_give_the_same_draft(call: Any, folder: Path) -> None:
    asked.clear()
    with serving(reply_to) as server:
        url = ("--base-url", server.base_url, "--concurrency", "1")
        code, printed, err = call(*command(folder, "--dry-run"), *url)
        assert (code, printed.partition(" requests")[0]) == (0, "2 lists; 2")
        code, printed, err = call(*command(folder), *url)
        assert code == 0, err
        assert len(server.requests) == 2 + 1 + 3 + 1
    assert "letters/thanks: 14 questions, 5 after merging, 4 kept; votes of 3:" in printed
    assert "     0  (left out) Is it green?" in printed
    votes = json.loads((folder / "draft.json").read_text(encoding="utf-8"))["letters"]["thanks"]
    assert votes == {"Is it kind?": 3, "Is it dated?": 3, "Is it signed?": 3, "Is it short?": 0, "Is it green?": 0}
    path = folder / "checklists.json"
    drafted = path.read_bytes()
    assert ChecklistSuite.load(folder).checklists["letters", "thanks"].questions == tuple(votes)[:4]
    code, _, err = call(*command(folder, "--offline"))  # the edits of a person are safe
    assert (code, path.read_bytes()) == (2, drafted)
    assert "no task without a checklist; remove a checklist to draft it again" in err
    path.unlink()
    assert call(*command(folder, "--offline"))[:2] == (0, printed)
    assert path.read_bytes() == drafted
    path.unlink()
    code, _, err = call(*command(folder, "--offline", "--experts", "3"))
    assert (code, path.exists()) == (3, False)
    assert "draft-replies.jsonl: 1 reply missing; run the same command without --offline" in err


def test_own_prompts_are_used_and_useless_replies_stop_no_other_category(call: Any, folder: Path) -> None:
    more = {"id": "U", "area": "letters", "category": "useless", "instruction": "Write."}
    with (folder / "tasks.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps(more) + "\n")
    (folder / "prompts").mkdir()
    (folder / "prompts/propose.txt").write_text("{category}: {tasks}", encoding="utf-8")

    def reply(request: Request) -> Reply:
        prompt = request.body["messages"][-1]["content"]
        if prompt == "useless: 1. Write.":
            return as_judge("I would rather not.")
        return as_judge(json.dumps(PROPOSED[2:4])) if prompt.startswith("thanks: ") else as_judge("[[1]]")

    with serving(reply) as server:
        options = ("--base-url", server.base_url)
        code, printed, err = call(*command(folder, *options))
    assert code == 3
    assert "letters/thanks: 4 questions, 2 after merging, 2 kept; votes of 0" in printed  # [[1]] is no vote
    assert "no reply has usable questions: letters/useless" in err


@pytest.mark.parametrize(("n_chosen", "n_kept"), [(0, 4), (4, 4), (5, 5), (8, 6)])
def test_four_to_six_questions_stay(n_chosen: int, n_kept: int) -> None:
    votes = {f"Is it {n}?": 5 if n < n_chosen else 4 for n in range(9)}
    assert len(Draft(votes, 9, n_voters=10).kept) == n_kept


def test_japanese_suites_are_drafted_in_japanese(folder: Path) -> None:
    (folder / "suite.json").write_text('{"format": 1, "language": "ja"}', encoding="utf-8")
    prompts = []
    with pytest.raises(UnfinishedDraft, match="1 reply missing"):
        Drafting(folder, Judge("m")).draft(lambda steps: prompts.append(steps[0]), 1, 1)
    assert "専門家" in prompts[0].next_request().messages[0]["content"]
