"""A whole test whose texts a model makes and a judge rates: stored replies alone decide what comes out."""

from __future__ import annotations

import hashlib

from makers.fault_server import Reply, answering, serving
from makers.text_makers import moody_damaged
from pfgen_fast.discernment import Perturbation, Plan, discern
from pfgen_fast.discernment.damaged import Damage
from pfgen_fast.discernment.model_damage import Making, open_maker
from pfgen_fast.evaluators import Item, open_judge
from pfgen_fast.evaluators.evaluator import text_column
from pfgen_fast.judging import Server

ITEMS = [
    Item(f"i{n}", f"Cat number {n} sat on mat {n}. Then it slept.", "story", "en", context=f"There was cat {n}.")
    for n in range(7)
]
MADE = (
    Perturbation("grammar_error", "minor", method="model"),
    Perturbation("paraphrase", method="model", level="control"),
)
PLAN = Plan((Perturbation("char_delete", "300", 300, level="character"), *MADE))


def honest(request):
    """A reply that depends only on prompt and seed."""
    seed = request.body["seed"]
    if "Changed text:" in request.prompt:
        return answering(moody_damaged(request.prompt, seed))
    digest = hashlib.sha1(f"{request.prompt}{seed}".encode()).digest()
    return answering(f"So it is. [[{1 + digest[0] % 5}]]" if digest[1] % 8 else "I cannot say.")


def run(folder, server=None, **options):
    """Makes, rates and tests; without a server, from stored replies."""
    where = None if server is None else Server(server.base_url, backoff=0.001, **options)
    maker = open_maker("org/maker", server=where, cache=folder / "perturbed-texts.jsonl", max_tokens=200)
    if where is not None:
        making = Making(ITEMS, MADE, maker)
        while making.ask() is not None:
            pass
    judge = open_judge("org/judge", tasks=["story"], n_ratings=2, server=where, cache=folder / "judge-ratings.jsonl")
    if where is not None:
        columns = [damaged.texts.tolist() for kind in Damage(ITEMS, PLAN, maker=maker) for damaged in kind]
        texts = [item.text for item in ITEMS] + [text for column in columns for text in column]
        while judge.ask(ITEMS * (1 + len(columns)), text_column(texts)) is not None:
            pass
    return discern(judge, ITEMS, PLAN, maker=maker, min_items=5, draws=20)


def test_what_a_model_made_is_in_the_tables_also_after_faults_and_by_replay(tmp_path):
    with serving(honest) as server:
        expected = run(tmp_path, server)
    columns = expected.perturbations
    assert columns["kind"] == ["char_delete", "grammar_error", "paraphrase"]
    assert columns["edit_share"][0] is None
    assert all(0 < share < 1 for share in columns["edit_share"][1:])
    assert columns["n_impossible"][0] == 0 < columns["n_impossible"][1]
    assert columns["reason"][1] == "no usable reply"
    assert set(expected.cells["metric"]) == {"coherence", "consistency", "fluency"}
    assert None not in expected.cells["d"][:3]
    cut = Reply(b'{"choices"', n_bytes=5)
    again = tmp_path / "again"
    again.mkdir()
    with serving(lambda request: cut if request.number % 4 == 1 else honest(request)) as server:
        asked = run(again, server, retries=2)
    for found in (asked, run(again)):
        for table in ("cells", "perturbations", "summary", "profile", "signature"):
            assert getattr(found, table) == getattr(expected, table)
