"""The files of the page of the site where anyone can try it: its program, the WebAssembly module and its data.

A page on disk loads scripts only, so the data are scripts, too. Without the module (make wasm), the program says so.
"""

from __future__ import annotations

from pfgen_fast import Scorer
from pfgen_fast.report.answers import packed
from pfgen_fast.report.pages import page_json, source
from pfgen_fast.report.trying import FIELD, MODULE, typical_references
from pfgen_fast.runs.items.answer_means import ANSWER_NAMES, MODEL_NAMES, QUESTION_NAMES
from pfgen_fast.runs.result_tables import published
from pfgen_fast.scoring.tinting import BOUNDS, LEVELS

SCRIPTS = ("page.js", "unpacking.js", "csv.js", "marks.js", *FIELD, "try/tables.js", "try/page.js")


def try_files() -> dict[str, str]:
    """The files by name."""
    style = source("marks.css") + source("try/try.css")
    if not MODULE.is_file():
        return {"try.css": style, "try.js": "".join(source(name) for name in SCRIPTS if name != FIELD[0])}
    scorer, runs = Scorer("mini"), published()
    means = {
        question: sorted(round(1e6 * run.by_question[question]) for run in runs) for question in runs[0].by_question
    }
    head = {
        "title": scorer.suite.title,
        "bounds": BOUNDS,
        "levels": LEVELS,
        "names": {"question": QUESTION_NAMES, "answer": ANSWER_NAMES, "model": MODEL_NAMES},
        "questions": typical_references(scorer),
    }
    data = {
        "mini": [head, scorer.to_bytes()],
        "module": [MODULE.read_bytes()],
        "published": [{"hash": runs[0].result.metadata_hash, "n": len(runs), "questions": means}],
    }
    scripts = {f"{name}.js": f"register({page_json(list(map(packed, lines)))});\n" for name, lines in data.items()}
    loaded = f"const LOADED_BYTES = {len(scripts['mini.js']) + len(scripts['module.js'])};\n"
    return {"try.css": style, "try.js": loaded + "".join(map(source, SCRIPTS)), **scripts}
