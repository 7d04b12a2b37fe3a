"""`python tools/page_pictures.py`: takes the pictures of the pages in the docs, light and dark, from made data.

The runs mix the answers of examples/demo_answers.jsonl: those of a training begin hasty and become careful. Checklists
are judged by examples/fake_judge.py. Needs Chromium, playwright and Pillow (`make .venv/with-browser`).
"""

from __future__ import annotations

import io
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pfgen_fast import Suite
from pfgen_fast.report import ReportRun, write_report
from pfgen_fast.runs.run_result import read_result
from pfgen_fast.runs.run_scorer import RunScorer
from pfgen_fast.runs.trials import find_runs
from PIL import Image
from playwright.sync_api import sync_playwright

ROOT = Path(__file__).resolve().parent.parent
PICTURES = ROOT / "docs" / "pictures"
PORT = 8798
SIZE = {"width": 1200, "height": 700}
MOST_BYTES = 150_000
SHARES = {  # of the answers of careful, rambling and hasty
    **{
        f"baseline/{name}": (name == "careful", name == "rambling", name == "hasty") for name in ("careful", "rambling")
    },
    **{
        f"training/step-{step}": (step / 3000 - 0.05, 0.42 - step / 7500, 0.63 - step / 5000)
        for step in range(500, 3001, 500)
    },
}
ANSWER = """Bread dough rises because tiny living things in it breathe out gas. They are called yeast. A crumb of \
yeast holds millions of cells, and each of them eats the sugar that water and enzymes set free from the flour. What is \
left over is a little alcohol, which bakes away, and carbon dioxide, the gas that also makes lemonade fizz.

The gas would escape at once if the dough were a soup. But when you knead flour and water, two of its proteins join to \
long, stretchy threads: gluten. Kneading folds these threads into thin skins, like thousands of small balloons. Each \
bubble of gas blows up its balloon, and the dough grows.

In the oven everything goes faster for a few minutes. The gas expands, the yeast works harder until it dies at about \
60 degrees, and the loaf jumps up. Then the starch sets and the gluten becomes firm, so the bubbles keep their shape."""


def main() -> None:
    """Takes the pictures into docs/pictures."""
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        folder = Path(name)
        pages = {"report": write_runs(folder / "report"), "checklists": judged(folder / "checklists")}
        pfgen(folder, "discern", "run", "--from-suite", "--suite", "mini", "--evaluator", "ngram", "-o", "discernment")
        pages["discernment"] = folder / "discernment" / "discernment.html"
        pages["annotation"] = annotated(folder / "annotation")
        program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        for scheme, ending in (("light", ""), ("dark", "_dark")):
            for picture, (page, open_part) in SHOWN.items():
                tab = browser.new_page(viewport=SIZE, color_scheme=scheme, device_scale_factor=1.5)
                tab.goto(pages[page].as_uri())
                shown = open_part(tab) or tab
                tab.wait_for_timeout(1000)
                save(shown.screenshot(animations="disabled"), PICTURES / f"{picture}{ending}.webp")
                tab.close()
        browser.close()


def compare(tab: Any) -> Any:
    """Opens the comparison of two steps."""
    for step in ("step-1500", "step-3000"):
        tab.locator("#runs tbody tr", has_text=step).locator("input").check()
    tab.locator("#compare").click()
    return tab.locator("#details")


def diagnose(tab: Any) -> Any:
    """Opens the causes of a loss."""
    tab.locator("#runs a", has_text="rambling").click()
    return tab.locator("#details")


SHOWN: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "report": ("report", lambda tab: tab.set_viewport_size({"width": 1200, "height": 520})),
    "comparison": ("report", compare),
    "diagnosis": ("report", diagnose),
    "checklists": ("checklists", lambda tab: tab.get_by_role("link", name="Checklists", exact=True).click()),
    "discernment": ("discernment", lambda tab: None),
    "annotation": ("annotation", lambda tab: tab.get_by_role("button", name="Close").click()),
}
"""By picture: its page, and a function that opens its part, and returns it if it is not the whole window."""


def write_runs(folder: Path) -> Path:
    """The page of runs that mix the answers of the example."""
    answers: dict[tuple[str, str], list[str]] = {}
    for line in (ROOT / "examples" / "demo_answers.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        answers.setdefault((row["model"], row["question"]), []).append(row["answer"])
    questions = list(dict.fromkeys(question for _, question in answers))
    for name, shares in SHARES.items():
        chance, lines = random.Random(name), []
        for trial in range(3):
            for question in questions:
                (model,) = chance.choices(("careful", "rambling", "hasty"), shares)
                lines.append(json.dumps({"question": question, "answer": answers[model, question][trial]}))
        (folder / name).mkdir(parents=True)
        (folder / name / "trials.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    suite, runs = Suite.load("mini"), find_runs([folder])
    list(RunScorer(suite=suite).score(runs))
    entries = [
        ReportRun(run.folder.relative_to(folder).as_posix(), None, read_result(run.folder / "result.json"))
        for run in runs
    ]
    write_report(entries, suite, folder / "report.html")
    return folder / "report.html"


def judged(folder: Path) -> Path:
    """The page of essays of three models that a judge has read."""
    folder.mkdir()
    with subprocess.Popen([sys.executable, ROOT / "examples" / "fake_judge.py", "--port", str(PORT)]) as server:
        time.sleep(2)
        for model in ("long", "short", "dull"):
            pfgen(folder, "checklists", "generate", "--suite", "essays-en", "-m", f"fake/{model}", "-o", "runs")
        pfgen(folder, "checklists", "judge", "runs", "--suite", "essays-en", "-m", "fake/judge-1")
        server.terminate()
    for path in folder.glob("runs/*/config.json"):
        path.write_text(path.read_text(encoding="utf-8").replace("fake/", "model/"), encoding="utf-8")
    pfgen(folder, "checklists", "report", "runs", "--suite", "essays-en", "-o", "checklists.html")
    return folder / "checklists.html"


def annotated(folder: Path) -> Path:
    """The page on which a person marks an essay."""
    run = folder / "runs" / "essayist"
    run.mkdir(parents=True)
    (run / "config.json").write_text('{"model": "essayist"}', encoding="utf-8")
    (run / "answers.jsonl").write_text(json.dumps({"id": "bread", "response": ANSWER}) + "\n", encoding="utf-8")
    pfgen(folder, "annotate", "essays-en", "runs", "-o", "people")
    return folder / "people" / "pages" / "a1.html"


def pfgen(folder: Path, *arguments: str) -> None:
    """Runs a command in a directory."""
    server = {"OPENAI_BASE_URL": f"http://127.0.0.1:{PORT}/v1", "OPENAI_API_KEY": "none"}
    command = [sys.executable, "-m", "pfgen_fast", *arguments]
    subprocess.run(command, cwd=folder, env={**os.environ, **server}, check=True, stdout=subprocess.DEVNULL)


def save(png: bytes, path: Path) -> None:
    """Writes a picture as WebP of at most 150 kB."""
    Image.open(io.BytesIO(png)).convert("RGB").save(path, lossless=True, method=6)
    if path.stat().st_size > MOST_BYTES:
        Image.open(io.BytesIO(png)).convert("RGB").save(path, quality=80, method=6)
    print(path, path.stat().st_size)


if __name__ == "__main__":
    main()
