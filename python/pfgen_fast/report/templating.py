"""Loads the templates of the reports.

All values of templates and all strings of JSON pass `base.untrusted_text` here, so the texts that templates and
scripts show are harmless.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from .. import __version__
from ..base.untrusted_text import harmless

FOLDER = Path(__file__).parent / "templates"


def page_text(
    name: str,
    *,
    style: str,
    scripts: Iterable[str],
    generator: str = "",
    loads_scripts: bool = False,
    asks_server: bool = False,
    **values: Any,
) -> Iterator[str]:
    """Yields the text of a page in pieces, from a template, a style, scripts and values.

    The style and the scripts follow those of all pages. The policy of the page allows no other code.
    """
    css = "".join(source(name) for name in ("report.css", style) if name)
    code = {"early_script": source("theme.js"), "script": "".join(map(source, ("page.js", "saving.js", *scripts)))}
    code = {key: _script_text(script) for key, script in code.items()}
    strict = " 'strict-dynamic'" if loads_scripts else ""
    connect = "; connect-src 'self'" if asks_server else ""
    policy = (
        f"default-src 'none'; script-src {_hashes(code.values())}{strict}; "
        f"style-src {_hashes([css])}; img-src data: blob:; base-uri 'none'; form-action 'none'{connect}"
    )
    embedded = {key: markup(text) for key, text in {"style": css, "policy": policy, **code}.items()}
    template = _environment().get_template(name)
    pieces: Iterator[str] = template.generate(version=__version__, generator=generator, **values, **embedded)
    return pieces


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
    environment.filters["figure"] = _figure
    environment.filters["breakable"] = lambda name: markup("_<wbr>").join(harmless(name).split("_"))
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


def _script_text(code: str) -> str:
    """Code that is safe inside a script element, because nothing in it can end the element."""
    code = code.replace("\r\n", "\n").replace("\r", "\n")  # as browsers read it before they take its hash
    return code.replace("</script", "<\\/script").replace("<!--", "<\\!--")


def _hashes(blocks: Iterable[str]) -> str:
    """The blocks as sources of a policy."""
    digests = (hashlib.sha256(block.encode()).digest() for block in blocks)
    return " ".join(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests) or "'none'"


def page_json(value: Any) -> str:
    """JSON with harmless texts that is safe inside a script element, whatever its texts contain."""
    text = json.dumps(_harmless_texts(value), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _harmless_texts(value: Any) -> Any:
    if isinstance(value, str):
        return harmless(value)
    if isinstance(value, Mapping):
        return {harmless(key): _harmless_texts(item) for key, item in value.items()}
    return [*map(_harmless_texts, value)] if isinstance(value, list | tuple) else value
