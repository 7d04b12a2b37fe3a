"""docs/papers/dhp.md: each command of the page, on made-up files in the layouts of the data sets that it names."""

import csv
import json
import re
from itertools import pairwise
from pathlib import Path

import pytest
from makers import terminal
from makers.documented import DOCS, Block, blocks
from makers.fault_server import answering, serving
from makers.pages import leave_out_drawing
from makers.tested_evaluators import damaged
from pfgen_fast.lab.discernment.discernment_plan import open_plan, paper_facts

PAGE = DOCS / "papers" / "dhp.md"
N_ITEMS = 10
WORDS = ("lake", "ferry", "harbour", "winter", "bridge", "farmer", "market", "stone", "letter", "garden", "tower")


def text_of(number, n_sentences):
    named = [WORDS[(number + shift) % len(WORDS)] for shift in range(n_sentences + 1)]
    return " ".join(f"The {a} near the {b} closed in {1900 + number}." for a, b in pairwise(named))


def write_csv(path, rows):
    with open(path, "w", encoding="utf-8", newline="") as file:
        cells = csv.DictWriter(file, list(rows[0]))
        cells.writeheader()
        cells.writerows(rows)


def write_lines(path, rows):
    Path(path).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def write_stand_ins():
    """Files in the layouts of the six data sets, of a collection, of votes, and of a set with damaged texts."""
    numbers = range(N_ITEMS)
    source, long, short = ([text_of(number, n) for number in numbers] for n in (30, 9, 1))
    summaries = [[text_of(number, n) for n in (2, 4, 3)] for number in numbers]
    news = [{"id": f"dm-{n}", "machine_summaries": [short[n]], "human_summaries": summaries[n]} for n in numbers]
    write_lines("summeval.jsonl", [{**row, "text": article} for row, article in zip(news, source, strict=True)])
    write_csv(
        "sumpubmed.csv", [{"text": source[n], "abstract": long[n], "shorter_abstract": short[n]} for n in numbers]
    )
    stories = [
        {"InputStoryid": f"s{n}", **{f"InputSentence{k}": text_of(n + k, 1) for k in range(1, 5)}} for n in numbers
    ]
    endings = [{"RandomFifthSentenceQuiz1": short[n], "RandomFifthSentenceQuiz2": text_of(n + 50, 1)} for n in numbers]
    right = [{"AnswerRightEnding": 1 + n % 2} for n in numbers]
    write_csv("cloze.csv", [a | b | c for a, b, c in zip(stories, endings, right, strict=True)])
    asked = [{"question": f"When was {WORDS[n]} {n}?", "context": source[n], "reference": long[n]} for n in numbers]
    short_answer = {**asked[0], "reference": "In 1900."}
    candidates = [{"candidate": name, **row} for row in (*asked, short_answer) for name in ("a", "b")]
    write_lines("equivalence.jsonl", candidates)
    for pair, name in (("de-en", "source.de"), ("zh-en", "source.zh")):
        Path(name).write_text("\n".join(source) + "\n", encoding="utf-8")
        Path(f"reference.{pair}.en").write_text("\n".join(long) + "\n", encoding="utf-8")
    usual = [{"id": f"{n}", "text": long[n], "context": source[n], "task": "summarization"} for n in numbers]
    write_lines("texts.jsonl", usual)
    damage = [{f"{degree}_entities": f"{row['text']} {degree}." for degree in ("minor", "major")} for row in usual]
    columns = [{"id": row["id"], "article": row["context"], "summary": row["text"]} for row in usual]
    write_lines("published.jsonl", [a | b for a, b in zip(columns, damage, strict=True)])
    vote = {"task": "summarization", "perturbation": "negate"}
    votes = [{"voter": f"e{voter}", **vote, "metric": metric} for voter, metric in enumerate("abbbb")]
    write_lines("votes.jsonl", votes)


def reply(request):
    """A judge that likes long prompts, and a maker of damaged texts; one asks for brackets, one for the score only."""
    if "[Text]" in request.prompt:
        return answering(damaged(request.prompt, request.body.get("seed", 0)))
    rating = 1 + len(request.prompt) % 5
    return answering(f"Coherence: {rating}" if "score ONLY" in request.prompt else f"[[{rating}]]")


@pytest.fixture(autouse=True)
def _stand_ins(tmp_path, monkeypatch):
    leave_out_drawing(monkeypatch)
    monkeypatch.chdir(tmp_path)
    write_stand_ins()


def printed_by(*, asks_a_server, address=""):
    """What the commands of the page print that ask a server, or that ask none."""
    printed = ""
    in_tables = re.findall(r"`(pfgen-fast .+?)`", PAGE.read_text(encoding="utf-8"))
    for block in (*(Block(PAGE, 0, "sh", command, "") for command in in_tables), *blocks(PAGE)):
        code = block.code.replace("http://localhost:8000/v1", address).replace("experts/exports/*.jsonl", "votes.jsonl")
        if block.language == "toml":
            Path("frame.toml").write_text(code, encoding="utf-8")
        elif asks_a_server != ("http://" in block.code):
            continue
        elif block.language == "python":
            exec(compile(code, block.place, "exec"), {})
        else:
            printed += terminal.run_here(code.replace("--ratings 5", "--ratings 1") if asks_a_server else code)
    return printed


def rows_of(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def numbers_before(words, printed):
    return [int(n.replace(",", "")) for n in re.findall(rf"^([\d,]+) {words}", printed, re.MULTILINE)]


def test_each_data_set_is_read_in_its_layout_and_needs_the_requests_of_the_paper():
    printed = printed_by(asks_a_server=False)
    facts = paper_facts("datasets")
    plans = [open_plan(row["dataset"]).perturbations for row in facts]
    n_metrics = [len(row["metrics"].split()) for row in facts]
    ratings = [N_ITEMS * (1 + len(plan)) * n * 5 for plan, n in zip(plans, n_metrics, strict=True)]
    assert numbers_before("ratings", printed) == ratings
    models = [sum(change.method == "model" for change in plan) for plan in plans]
    assert numbers_before("damaged texts", printed) == [N_ITEMS * n for n in models]
    assert (sum(map(len, plans)), sum(len(plan) * n for plan, n in zip(plans, n_metrics, strict=True))) == (59, 163)
    assert [(row["metric"], row["weight"]) for row in rows_of("weights.csv")] == [("a", "0.2"), ("b", "0.8")]
    assert re.search(rf"^summarization +{N_ITEMS} +\d+\.\d +\d+\.\d +9\.0 ", printed, re.MULTILINE)  # mean lengths
    text = PAGE.read_text(encoding="utf-8")
    for row, plan, n, by_model in zip(facts, plans, n_metrics, models, strict=True):
        of_100 = rf"^\| {row['dataset']} \|.*\| {500 * (1 + len(plan)) * n:,}, {100 * by_model:,} \|$"
        assert re.search(of_100, text, re.MULTILINE), row["dataset"]


@pytest.mark.slow
def test_judges_stand_side_by_side_and_ready_made_damage_and_a_bare_frame_are_read():
    with serving(reply) as server:
        printed_by(asks_a_server=True, address=server.base_url)
    styles = rows_of("judges/discernment-styles.csv")
    assert {row["evaluator"] for row in styles} == {"org/first", "org/second"}
    assert {"original", "fictional_entity/minor"} <= {row["texts"] for row in styles}
    assert any(row["weighted_d"] for row in rows_of("judges/discernment-perturbations.csv"))
    ready = rows_of("published/discernment-perturbations.csv")
    assert {(row["degree"], row["method"]) for row in ready} == {("minor", "given"), ("major", "given")}
    assert {row["n_items"] for row in ready} == {str(N_ITEMS)}
    assert len(Path("damaged.jsonl").read_text(encoding="utf-8").splitlines()) == N_ITEMS * (1 + 12)
    assert {row["n_missing"] for row in rows_of("bare/discernment-cells.csv")} == {"0"}
