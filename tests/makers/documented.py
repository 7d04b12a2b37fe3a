"""Examples of the docs, so that tests can run them."""

from __future__ import annotations

import re
from pathlib import Path

DOCS = Path(__file__).resolve().parents[2] / "docs"


def documented_example(part: str) -> str:
    """The only block of Python in docs/ that has this part, whichever file it is in."""
    blocks = [
        block
        for path in sorted(DOCS.rglob("*.md"))
        for block in re.findall(r"```python\n(.*?)```", path.read_text(encoding="utf-8"), flags=re.DOTALL)
        if part in block
    ]
    [block] = blocks
    return block
