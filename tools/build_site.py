"""`python tools/build_site.py` builds the site into build/site with Zensical, strictly.

Zensical has no hooks, so it builds build/docs: a copy of docs/ with files outside it. Pages link to such files as
GitHub needs it (`../bench/README.md`). The site shows each as a page below repository/, a program as its source and a
folder as a list, so that a link leads somewhere without the network and a dead one fails.

try/ holds the program of the page where anyone can try it; without the WebAssembly module, the page says so.
"""

from __future__ import annotations

import json
import posixpath
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import yaml
from try_page import try_files

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
BUILD = ROOT / "build"
BESIDE = "repository"
ALWAYS = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "bench/README.md")
AS_IT_IS = {".json", ".png", ".svg", ".webp", ".html"}
LANGUAGES = {".py": "python", ".toml": "toml", ".sh": "sh", ".jsonl": "json", ".hpp": "cpp", ".cpp": "cpp"}
LINK = re.compile(r"""(?:(?<=\]\()|(?<=\bsrc=")|(?<=\bsrcset="))([^)\s#"]+)(?=[)#\s"])""")
HIDDEN = "---\nsearch:\n  exclude: true\n---\n"


def main() -> None:
    """Builds the site; ends with Zensical's exit code."""
    for folder in ("docs", "site"):
        shutil.rmtree(BUILD / folder, ignore_errors=True)
    copy_pages(BUILD / "docs")
    (BUILD / "docs" / "try").mkdir()
    for name, content in try_files().items():
        (BUILD / "docs" / "try" / name).write_text(content, encoding="utf-8")
    settings, _, navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:\n")
    listed = json.dumps(_expanded(yaml.safe_load(navigation)))
    (BUILD / "mkdocs.yml").write_text(f"{settings}\nnav: {listed}\n", encoding="utf-8")
    command = [sys.executable, "-m", "zensical", "build", "--strict", "-f", str(BUILD / "mkdocs.yml")]
    sys.exit(subprocess.run(command, check=False).returncode)


def copy_pages(folder: Path) -> None:
    """Copies docs/, the files outside it that pages link to, and the files that these link to."""
    shutil.copytree(DOCS, folder)
    waiting = [*DOCS.rglob("*.md"), *(ROOT / name for name in ALWAYS)]
    copied: set[Path] = set()
    while waiting:
        path = waiting.pop()
        target = folder / _uri(path)
        if target in copied:
            continue
        copied.add(target)
        target.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix in AS_IT_IS:
            shutil.copy(path, target)
            continue
        text = _page(path)
        target.write_text(_linked(text, path), encoding="utf-8")
        if path.suffix == ".md" or path.is_dir():
            waiting += _outside(path, text)


def _linked(text: str, path: Path) -> str:
    """A page with links into the site for links into the repository."""
    folder = posixpath.dirname(_uri(path))

    def led(link: re.Match[str]) -> str:
        target = _target(path, link[0])
        return link[0] if target is None else posixpath.relpath(_uri(target), folder or ".")

    return LINK.sub(led, text)


def _expanded(item: Any) -> Any:
    """The same navigation with files for patterns; a section without pages is left out."""
    if isinstance(item, str):
        return sorted(str(path.relative_to(DOCS)) for path in DOCS.glob(item)) if re.search(r"[*?]", item) else [item]
    if isinstance(item, list):
        return [part for entry in item for part in _expanded(entry)]
    [(title, value)] = item.items()
    inside = _expanded(value)
    return [{title: value if isinstance(value, str) else inside}] if inside else []


def _target(path: Path, link: str) -> Path | None:
    """The existing file of the repository that a link in another file means."""
    if re.match(r"[a-z]+:|/|<", link):
        return None
    folder = path if path.is_dir() else path.parent
    target = (folder / link).resolve()
    return target if target.exists() and target.is_relative_to(ROOT) else None


def _outside(path: Path, text: str) -> list[Path]:
    targets = (_target(path, link) for link in LINK.findall(text))
    return [target for target in targets if target is not None and not target.is_relative_to(DOCS)]


def _uri(path: Path) -> str:
    """The path in the site of a file or folder of the repository."""
    if path.is_relative_to(DOCS):
        return path.relative_to(DOCS).as_posix()
    inside = f"{BESIDE}/{path.relative_to(ROOT).as_posix()}"
    if path.is_dir():
        return f"{inside}/index.md"
    return inside if path.suffix == ".md" or path.suffix in AS_IT_IS else f"{inside}.md"


def _page(path: Path) -> str:
    """A file as Markdown: itself, its source, or the list of a folder."""
    if path.is_dir():
        names = sorted(item.name for item in path.iterdir() if item.is_file() and not item.name.startswith("."))
        return "\n".join([f"{HIDDEN}# {path.name}\n", *(f"* [{name}]({name})" for name in names)])
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        return HIDDEN * (path.parent == ROOT and path.name.startswith("README")) + text
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
    return f"{HIDDEN}# {path.name}\n\n{fence}{LANGUAGES.get(path.suffix, 'text')}\n{text}\n{fence}\n"


if __name__ == "__main__":
    main()
