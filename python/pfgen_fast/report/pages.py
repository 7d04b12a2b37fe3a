"""Pages from templates, and pages as files: one file of bounded size, or a folder with files of data.

All values of templates and all strings of JSON pass `base.untrusted_text` here, so the texts that templates and
scripts show are harmless. A page on disk can load only scripts, so the files of data are scripts that call `register`.
Their names contain the hash of their content, so the old page finds its own data until the new page replaces it.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import html
import os
import re
import tempfile
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from .. import __version__
from ..base.errors import PfgenError
from ..base.file_reading import open_regular
from ..base.file_writing import check_folder, make_folder, write_whole, writing_whole
from ..base.untrusted_text import harmless, harmless_json
from ..runs.statistics.verdicts import shown_range

FOLDER = Path(__file__).parent / "templates"

PAGE = "index.html"
"""The name of the page in a folder."""

MAX_BYTES = 12_000_000
"""The maximum size of a page in one file."""

_DATA = "data"
_PART_SIZE = 500_000
_N_SAMPLED = 10
_HEAD_WITHIN = 16_384
_MARK = b"// Data of a page of pfgen-fast.\n"
_HEAD = re.compile(
    r'<meta name="generator" content="pfgen-fast ([^"]*)">\n<meta name="description" content="([^"]*)">'
    r'.*?content="no-referrer">\n(?:<meta name="figure" content=\'([^\']*)\'>)?.*?<title>(?:[^<:]*: )?([^<]*)</title>',
    re.DOTALL,
)

LOOKS: dict[str, tuple[str, tuple[str, ...]]] = {
    "finding.html.jinja": ("finding.css", ("charts.js", "row_charts.js", "finding.js")),
    "building.html.jinja": ("building.css", ("charts.js", "building.js")),
}
"""The style and the scripts of pages, by their templates, unless a writer chooses others."""

EMPTY_NAVIGATION = b'<nav class="site" aria-label="Site" hidden></nav>'
"""The element of a page that a site fills; see page.html.jinja."""

T = TypeVar("T")


def page_text(
    name: str,
    *,
    section: str,
    headline: str,
    style: str = "",
    scripts: Sequence[str] = (),
    loads_scripts: bool = False,
    is_live: bool = False,
    **values: Any,
) -> Iterator[str]:
    """Yields the text of a page in pieces, from a template, a style, scripts and values.

    A site shows the page in its section, with its headline: what the page found, in one sentence. The style and the
    scripts, by default those of `LOOKS`, follow those of all pages. The policy of the page allows no other code. A live
    page loads itself again when its server has a newer one.
    """
    if not scripts:
        style, scripts = LOOKS.get(name, ("", ("plain.js",)))
    code = _code(style, (*scripts, "live.js") if is_live else scripts, loads_scripts=loads_scripts, is_live=is_live)
    template = _environment().get_template(name)
    pieces: Iterator[str] = template.generate(version=__version__, section=section, headline=headline, **values, **code)
    return pieces


def _code(style: str, scripts: Sequence[str], *, loads_scripts: bool = False, is_live: bool = False) -> dict[str, Any]:
    """The style and the scripts of a page, and the policy that allows them."""
    can_try = "try/field.js" in scripts
    css = "".join(source(name) for name in ("marks.css", "report.css", style, "try/try.css" if can_try else "") if name)
    script = "".join(map(source, ("page.js", "csv.js", "sorting.js", "saving.js", *scripts)))
    code = {"early_script": source("theme.js"), "script": script}
    for key, script in code.items():
        script = script.replace("\r\n", "\n").replace("\r", "\n")  # as browsers read it before they take its hash
        # Nothing in the code can end its element.
        code[key] = script.replace("</script", "<\\/script").replace("<!--", "<\\!--")
    strict = " 'strict-dynamic'" * loads_scripts + " 'wasm-unsafe-eval'" * can_try
    connect = "; connect-src 'self'" if is_live else ""
    policy = (
        f"default-src 'none'; script-src {_hashes(code.values())}{strict}; "
        f"style-src {_hashes([css])}; img-src data: blob:; base-uri 'none'; form-action 'none'{connect}"
    )
    return {key: markup(text) for key, text in {"style": css, "policy": policy, **code}.items()}


def beginning(style: str, scripts: Sequence[str]) -> bytes:
    """The first bytes of each page that this version writes in one file with a style and scripts."""
    head = source("page.html.jinja").partition('<meta name="generator"')[0]
    language = '{{ language | default("en") }}'
    return head.replace(language, "en").replace("{{ policy }}", _code(style, scripts)["policy"]).encode()


@cache
def _environment() -> Any:
    """The templates, each compiled once: HTML output is escaped, texts are harmless, undefined names are errors."""
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(FOLDER),
        autoescape=lambda file: file is not None and ".html" in file,
        finalize=lambda value: harmless(value) if type(value) is str else value,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {"figure": _figure, "rank_range": shown_range}
    environment.filters["breakable"] = lambda name: markup(re.sub("[_/]", r"\g<0><wbr>", html.escape(harmless(name))))
    return environment


def _figure(value: float | None, form: str) -> str:
    """A number by the rules of `format`, without a negative zero."""
    if value is None:
        return "–"
    text = format(value, form)
    return text if text.strip("-0.") else text.removeprefix("-")


def markup(text: str) -> Any:
    """Text that templates do not escape."""
    from markupsafe import Markup

    return Markup(text)


def source(name: str) -> str:
    """The unchanged text of a file in the templates' folder."""
    return (FOLDER / name).read_text(encoding="utf-8")


def _hashes(blocks: Iterable[str]) -> str:
    """The blocks as sources of a policy."""
    digests = (hashlib.sha256(block.encode()).digest() for block in blocks)
    return " ".join(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests) or "'none'"


def page_json(value: Any) -> str:
    """JSON with harmless texts that is safe inside a script element, whatever its texts contain."""
    text = harmless_json(value)
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


# --- files


def is_one_file(output: Path) -> bool:
    """Whether the output is a page in one file: a name that ends in .html, unless it is a folder."""
    return output.suffix.lower() in (".html", ".htm") and not output.is_dir()


def check_output(output: Path) -> None:
    """Raises PfgenError unless the output is a page in one file or a folder that can be written."""
    page = f"a page, such as {output.stem}.html, or a directory"
    check_folder(output.parent if is_one_file(output) else output, page)


def write_page(path: Path, pieces: Iterable[str]) -> None:
    """Writes a page in one file of any size."""
    with writing_whole(path) as file:
        for piece in pieces:
            file.write(piece.encode())


def write_bounded_page(
    path: Path,
    n_lines: int,
    forms: Sequence[T],
    lines: Callable[[T, int], Iterable[str]],
    page: Callable[[T, Sequence[str]], Iterable[str]],
    *,
    n_runs: int,
    error: type[PfgenError],
) -> None:
    """Writes a page in one file of at most `MAX_BYTES`, with its data in the first form that fits; each is smaller.

    `lines(form, n)` returns every n-th of the `n_lines` lines of the data; `page(form, lines)` returns the page.
    """
    room = MAX_BYTES - sum(len(piece.encode()) for piece in page(forms[0], [])) - 100 * n_lines
    step = max(1, n_lines // _N_SAMPLED)

    def may_fit(form: T) -> bool:
        return step == 1 or step * sum(map(len, lines(form, step))) <= 1.1 * room

    for form in forms[0 if may_fit(forms[0]) else bisect_left(forms, True, 1, key=may_fit) :]:
        fitting, n_bytes = [], 0
        for line in lines(form, 1):
            n_bytes += len(line) + 1
            if n_bytes > room:
                break
            fitting.append(line)
        if len(fitting) == n_lines:
            write_page(path, page(form, fitting))
            return
    raise error(
        f"{n_runs} runs are too many for one page of {MAX_BYTES // 1_000_000} MB; report fewer runs, or write a folder "
        "(a name without .html)"
    )


def in_parts(values: Iterable[T], size: Callable[[T], int]) -> Iterator[list[T]]:
    """Groups values into parts, each of which ends with the value that makes it large enough."""
    part: list[T] = []
    so_far = 0
    for value in values:
        part.append(value)
        so_far += size(value)
        if so_far >= _PART_SIZE:
            yield part
            part, so_far = [], 0
    if part:
        yield part


def write_page_folder(
    folder: Path,
    data: Mapping[str, Iterable[Any]],
    page: Callable[[Mapping[str, Sequence[str]]], Iterable[str]],
) -> None:
    """Writes files of data, and the page with their addresses, in place of an earlier report.

    The names of `data` begin the names of files; a value of None has no file and the address "". A value of bytes is
    JSON already.
    """
    addresses: dict[str, list[str]] = {name: [] for name in data}
    with publishing(folder) as work:
        for name, all_values in data.items():
            for values in all_values:
                address = ""
                if values is not None:
                    # JSON of the Base64 of a large index would take many seconds.
                    listed = values if isinstance(values, bytes) else page_json(values).encode()
                    content = b"%sregister(%s);\n" % (_MARK, listed)
                    address = f"{_DATA}/{name}-{hashlib.sha256(content).hexdigest()[:16]}.js"
                    write_whole(work / address, content)
                addresses[name].append(address)
        write_page(work / PAGE, page(addresses))


@contextlib.contextmanager
def publishing(folder: Path) -> Iterator[Path]:
    """Yields a new directory whose pages and data then move into `folder`, data first and its start page last.

    They replace an earlier report or site, whose other pages and data are removed. No other page is replaced.
    """
    earlier = _earlier(folder)
    make_folder(folder)
    with tempfile.TemporaryDirectory(prefix=".new-", dir=folder) as name:
        yield Path(name)
        files = [path.relative_to(name) for path in Path(name).rglob("*") if path.suffix in (".html", ".js")]
        files.sort(key=lambda path: (path.suffix == ".html", path == Path(PAGE), path))
        for path in (folder / file for file in files if file.suffix == ".html"):
            if path.exists() and path not in earlier:
                raise PfgenError(f"{path}: not from a report; choose another folder, or remove the file")
        for file in files:
            make_folder((folder / file).parent)
            try:
                os.replace(Path(name, file), folder / file)
            except OSError as error:
                raise PfgenError(f"{folder / file}: cannot be written: {error.strerror or error}") from None
    for path in earlier.difference(folder / file for file in files):
        path.unlink(missing_ok=True)


def _earlier(folder: Path) -> set[Path]:
    """The pages and data of an earlier report or site; pages in directories of a site have a filled navigation."""
    pages = {path for path in folder.glob("*/*.html") if page_head(path) and EMPTY_NAVIGATION not in path.read_bytes()}
    pages |= {path for path in [folder / PAGE] if page_head(path)}
    data = {path for page in pages if page.name == PAGE for path in page.parent.glob(f"{_DATA}/*.js")}
    return pages | {path for path in data if _begin(path).startswith(_MARK)}


def page_head(path: Path) -> tuple[str, str, str, str] | None:
    """The section, headline, title (without its kind) and best runs (JSON) of a page of ours; None for other files."""
    head = _HEAD.search(_begin(path).decode(errors="replace"))
    texts = [html.unescape(head[group] or "") for group in (1, 2, 4, 3)] if head else []
    return (texts[0], texts[1], texts[2], texts[3]) if texts else None


def _begin(path: Path) -> bytes:
    try:
        with open_regular(path) as file:
            return file.read(_HEAD_WITHIN)
    except OSError:
        return b""
