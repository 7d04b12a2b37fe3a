"""The Java that Spark runs on: the one that is set, the one on the path, or one that the distribution installed."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

LEAST_VERSION = 17
MISSING = f"Spark needs Java {LEAST_VERSION} or later, and there is none: apt-get install openjdk-17-jre-headless"


def java_home() -> Path | None:
    """The home of the first Java that Spark can use; None if there is none."""
    return next((home for home in _homes() if _version(home) >= LEAST_VERSION), None)


def _homes() -> Iterator[Path]:
    if home := os.environ.get("JAVA_HOME"):
        yield Path(home)
    if on_path := shutil.which("java"):
        yield Path(on_path).resolve().parent.parent
    yield from sorted(Path("/usr/lib/jvm").glob("*"))


def _version(home: Path) -> int:
    release = home / "release"
    if not (home / "bin" / "java").exists() or not release.exists():
        return 0
    found = re.search(r'^JAVA_VERSION="(\d+)', release.read_text(encoding="utf-8"), re.MULTILINE)
    return int(found[1]) if found else 0
