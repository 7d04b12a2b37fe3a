"""Hooks that MkDocs calls while it builds the site: patterns in the navigation, files outside docs/, and try/.

Pages link to such files as GitHub needs it (`../bench/README.md`). The site shows each as a page below repository/, a
program as its source and a folder as a list, so that a link leads somewhere without the network and a dead one fails.

try/ holds the program of the page where anyone can try it; without the WebAssembly module, the page says so.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File
from try_page import try_files

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
BESIDE = "repository"
ALWAYS = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "bench/README.md")
AS_IT_IS = {".json", ".png", ".svg", ".html"}
LANGUAGES = {".py": "python", ".toml": "toml", ".sh": "sh", ".jsonl": "json", ".hpp": "cpp", ".cpp": "cpp"}
LINK = re.compile(r"(?<=\]\()([^)\s#]+)(?=[)#\s])")
DECLARATION = re.compile(r"`([^`]*<!\[[^`]*)`")
HIDDEN = "---\nsearch:\n  exclude: true\n---\n"


def on_config(config: Any) -> Any:
    """Replaces each pattern of the navigation by the matching pages."""
    config.nav = _expanded(config.nav)
    return config


def on_files(files: Any, *, config: Any) -> Any:
    """Adds the files outside docs/ that pages link to, and the files that these link to."""
    waiting = [ROOT / name for name in ALWAYS]
    waiting += [path for page in DOCS.rglob("*.md") for path in _outside(page, page.read_text(encoding="utf-8"))]
    while waiting:
        path = waiting.pop()
        uri = _uri(path)
        if files.get_file_from_path(uri) is not None:
            continue
        if path.suffix in AS_IT_IS:
            files.append(File.generated(config, uri, abs_src_path=str(path)))
            continue
        text = _page(path)
        files.append(File.generated(config, uri, content=text))
        if path.suffix == ".md" or path.is_dir():
            waiting += _outside(path, text)
    for name, content in try_files().items():
        files.append(File.generated(config, f"try/{name}", content=content))
    return files


def on_post_build(*, config: Any) -> None:
    """Writes the search index as a script, too; without a server, the theme's program needs it to start."""
    index = Path(config.site_dir) / "search" / "search_index.json"
    index.with_suffix(".js").write_text(f"var __index = {index.read_text(encoding='utf-8')}", encoding="utf-8")


def on_page_markdown(markdown: str, *, page: Any, config: Any, files: Any) -> str:
    """Turns links into the repository into links into the site."""
    source = page.file.src_uri
    inside = source.removeprefix(f"{BESIDE}/").removesuffix("index.md" if source.endswith("/index.md") else "")
    path = ROOT / inside if source.startswith(f"{BESIDE}/") else DOCS / source
    folder = posixpath.dirname(source)

    def led(link: re.Match[str]) -> str:
        target = _target(path, link[0])
        return link[0] if target is None else posixpath.relpath(_uri(target), folder or ".")

    return DECLARATION.sub(_as_html, LINK.sub(led, markdown))


def _as_html(code: re.Match[str]) -> str:
    """Escapes `<![` in code, which MkDocs would read as the beginning of an HTML declaration."""
    return f"<code>{''.join(f'&#{ord(character)};' for character in code[1])}</code>"


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
        return text
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
    return f"{HIDDEN}# {path.name}\n\n{fence}{LANGUAGES.get(path.suffix, 'text')}\n{text}\n{fence}\n"
