"""Prints the notes of a release from CHANGELOG.md, after checking that tag, versions and changelog agree.

`python tools/release_notes.py v1.2.3`, or without a tag before the release. Needs no package.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def notes(root: Path, tag: str | None) -> str:
    """The section of the changelog for the version that pyproject.toml declares; without a tag, [Unreleased] will do.

    Raises:
        ValueError: The files, or the tag, name different versions; or the section is missing, undated or empty.
    """
    version = _only(root / "pyproject.toml", r'^version = "(.+)"$')
    if tag is not None and tag != f"v{version}":
        raise ValueError(f"the tag is {tag}, but pyproject.toml declares version {version}: expected v{version}")
    in_javascript = _only(root / "js" / "package.json", r'^  "version": "(.+)",$')
    if in_javascript != version:
        raise ValueError(f"js/package.json names version {in_javascript}, but pyproject.toml declares {version}")
    changelog = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    headings = [rf"\[{re.escape(version)}\] - \d{{4}}-\d{{2}}-\d{{2}}", *([] if tag else [r"\[Unreleased\]"])]
    pattern = r"^## {}$\n(.*?)(?=^## |\Z)"
    sections = (re.search(pattern.format(heading), changelog, re.MULTILINE | re.DOTALL) for heading in headings)
    match = next(filter(None, sections), None)
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
        print(notes(ROOT, sys.argv[1] if len(sys.argv) > 1 else None), end="")
    except ValueError as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
