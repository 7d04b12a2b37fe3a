"""`python tools/page_pictures.py`: takes the pictures of the pages in the docs, light and dark.

The report is the one that docs/start.md makes. Checklists are judged by examples/fake_judge.py. Needs Chromium,
playwright and Pillow (`make .venv/with-browser`).
"""

from __future__ import annotations

import io
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import sync_playwright

ROOT = Path(__file__).resolve().parent.parent
PICTURES = ROOT / "docs" / "pictures"
PORT = 8798
WIDE: dict[str, Any] = {"viewport": {"width": 1200, "height": 700}, "device_scale_factor": 1.5}
NARROW: dict[str, Any] = {"viewport": {"width": 410, "height": 429}, "device_scale_factor": 2}
MOST_BYTES = 150_000
CUT = "#details .buttons, #details .save, #details .tools, #details a:text('The answers of all runs')"
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
        pages = {"report": started(folder / "report"), "checklists": judged(folder / "checklists")}
        pfgen(folder, "discern", "run", "--from-suite", "--suite", "mini", "--evaluator", "ngram", "-o", "discernment")
        pages["discernment"] = folder / "discernment" / "discernment.html"
        pages["annotation"] = annotated(folder / "annotation")
        program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        for scheme, ending in (("light", ""), ("dark", "_dark")):
            for picture, (page, shape, open_part) in SHOWN.items():
                tab = browser.new_page(color_scheme=scheme, **shape)
                tab.goto(pages[page].as_uri())
                shown = open_part(tab) or tab
                tab.mouse.move(0, 0)
                tab.wait_for_timeout(1000)
                save(shown.screenshot(animations="disabled"), PICTURES / f"{picture}{ending}.webp")
                tab.close()
        browser.close()


def explain(tab: Any) -> None:
    """Opens the causes of a loss to the best run, as on a phone."""
    diagnose(tab).locator("[data-filter=against]").select_option("best")
    cut(tab)


def mark(tab: Any) -> None:
    """Opens two answers to one question, as on a phone."""
    diagnose(tab).get_by_text("Read its worst answer").click()
    cut(tab)
    tab.get_by_text("Sample 2").evaluate("line => line.scrollIntoView()")


def cut(tab: Any) -> None:
    """Hides buttons and fields."""
    tab.wait_for_timeout(500)
    tab.locator(CUT).evaluate_all("parts => parts.forEach(part => { part.style.display = 'none'; })")


def compare(tab: Any) -> Any:
    """Opens the comparison of two runs."""
    for name in ("rambling", "hasty"):
        tab.locator("#runs tbody tr", has_text=name).locator("input").check()
    tab.locator("#compare").click()
    return tab.locator("#details")


def diagnose(tab: Any) -> Any:
    """Opens the causes of a loss."""
    tab.locator("#runs a", has_text="hasty").click()
    return tab.locator("#details")


SHOWN: dict[str, tuple[str, dict[str, Any], Callable[[Any], Any]]] = {
    "report": ("report", NARROW, explain),
    "answer": ("report", NARROW, mark),
    "comparison": ("report", WIDE, compare),
    "diagnosis": ("report", WIDE, diagnose),
    "checklists": ("checklists", WIDE, lambda tab: tab.get_by_role("link", name="Checklists", exact=True).click()),
    "discernment": ("discernment", WIDE, lambda tab: None),
    "annotation": ("annotation", WIDE, lambda tab: tab.get_by_role("button", name="Close").click()),
}
"""By picture: its page, the window, and a function that opens its part, and returns that unless it fills the window."""


def started(folder: Path) -> Path:
    """The page that the last commands of docs/start.md make."""
    shutil.copytree(ROOT / "examples", folder / "examples")
    block = (ROOT / "docs" / "start.md").read_text(encoding="utf-8").split("```sh\n")[-1].partition("```")[0]
    command = f'pfgen-fast() {{ {shlex.quote(sys.executable)} -m pfgen_fast "$@"; }}\n{block}'
    subprocess.run(["bash", "-ec", command], cwd=folder, check=True, stdout=subprocess.DEVNULL)
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
