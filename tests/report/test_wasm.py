"""The WebAssembly module in Chromium, served and from disk, against scores that Python records.

js/test has the other tests of the module, which Node runs.
"""

import base64
import functools
import http.server
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from makers.reward_server import wait_until

ROOT = Path(__file__).parents[2]
PACKAGED = ROOT / "python" / "pfgen_fast" / "data" / "wasm"
CHECK = """async ([index, records]) => {
  const scorer = (await pfgen.load(module)).Scorer.fromBytes(Uint8Array.from(atob(index), (c) => c.charCodeAt(0)));
  const { answers } = JSON.parse(records);
  return [differences(scorer, answers), keystroke(scorer, answers.slice(0, 100))];
}"""

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(not PACKAGED.is_dir(), reason="NOT CHECKED: no module, see make wasm"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The records, the module, and two pages that load it."""
    folder = tmp_path_factory.mktemp("wasm")
    records = ROOT / "build" / "wasm" / "records"  # `make pages` has written them
    if not (records / "mini-paper.json").is_file():
        subprocess.run([sys.executable, ROOT / "tools" / "wasm_records.py", records], check=True)
    for source in (records, ROOT / "js"):
        shutil.copytree(source, folder, dirs_exist_ok=True)
    icon = "<!doctype html><meta charset=utf-8><link rel=icon href=data:,>"
    served = 'import * as pfgen from "./pfgen.js"; import * as records from "./test/records.js";'
    served += "Object.assign(globalThis, records, { pfgen, module: undefined });"
    (folder / "served.html").write_text(f"{icon}<script type=module>{served}</script>", encoding="utf-8")
    records = (folder / "test" / "records.js").read_text(encoding="utf-8").replace("export ", "")
    module = base64.b64encode((PACKAGED / "pfgen.wasm").read_bytes()).decode()
    decoded = f"const module = Uint8Array.from(atob('{module}'), (c) => c.charCodeAt(0));"
    script = (PACKAGED / "pfgen.js").read_text(encoding="utf-8") + records + decoded
    (folder / "disk.html").write_text(f"{icon}<script>{script}</script>", encoding="utf-8")
    return folder


@pytest.fixture
def address(folder: Path) -> Iterator[str]:
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=folder)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/served.html"
        server.shutdown()


@pytest.mark.parametrize("is_served", [True, False], ids=["served", "disk"])
def test_scores_equal_pythons_and_a_keystroke_takes_less_than_5_ms(
    open_tab: Callable[..., Any], folder: Path, address: str, is_served: bool
) -> None:
    page = open_tab(folder / "disk.html").page
    if is_served:
        page.goto(address)
        wait_until(lambda: page.evaluate("'pfgen' in globalThis"))
    for path in sorted(folder.glob("mini-*.json")):
        index = base64.b64encode(path.with_suffix(".pfgen").read_bytes()).decode()
        differing, milliseconds = page.evaluate(CHECK, [index, path.read_text(encoding="utf-8")])
        assert (differing, milliseconds < 5) == ([], True), path.name
