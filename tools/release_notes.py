"""Prints the notes of a release from CHANGELOG.md, after checking that tag, versions and changelog agree.

`python tools/release_notes.py [TAG...]`, with all tags of the commit. Needs no package.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]


def notes(root: Path, tags: Sequence[str]) -> str:
    """The section of the changelog for the version that pyproject.toml declares.

    Raises:
        ValueError: The files or the tags name different versions; or the section is missing, undated or empty.
    """
    version = _only(root / "pyproject.toml", r'^version = "(.+)"$')
    if others := [tag for tag in tags if tag != f"v{version}"]:
        raise ValueError(f"the tag is {others[0]}, but pyproject.toml declares version {version}: expected v{version}")
    in_javascript = _only(root / "js" / "package.json", r'^  "version": "(.+)",$')
    if in_javascript != version:
        raise ValueError(f"js/package.json names version {in_javascript}, but pyproject.toml declares {version}")
    changelog = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    pattern = rf"^## \[{re.escape(version)}\] - \d{{4}}-\d{{2}}-\d{{2}}$\n(.*?)(?=^## |\Z)"
    match = re.search(pattern, changelog, re.MULTILINE | re.DOTALL)
    if not match:
        raise ValueError(f"CHANGELOG.md has no section '## [{version}] - YYYY-MM-DD'")
    if not match[1].strip():
        raise ValueError(f"CHANGELOG.md says nothing of version {version}")
    return match[1].strip() + "\n"


def _only(path: Path, pattern: str) -> str:
    result = re.findall(pattern, path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    if len(result) != 1:
        raise ValueError(f"{path.name} names {len(result)} versions, not one")
    return str(result[0])


def main() -> None:
    """Prints the notes; a disagreement is one sentence on stderr, and exit code 1."""
    try:
        print(notes(ROOT, sys.argv[1:]), end="")
    except ValueError as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
