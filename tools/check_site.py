"""`python tools/check_site.py build/site`: a built site needs nothing from elsewhere, its links lead somewhere, and
its search knows its pages. Prints what is wrong, and ends with 1 if anything is.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

ASSETS = ("script", "img", "iframe", "source", "video", "audio", "embed")
ELSEWHERE = re.compile(r"(?:[a-z][a-z0-9+.-]*:)?//", re.IGNORECASE)
IN_STYLE = re.compile(r"""(?:url\(|@import)\s*["']?((?:https?:)?//[^"')\s]+)""")
IN_SCRIPT = re.compile(r"""(?:import\(|importScripts\(|fetch\(|\.src\s*=)\s*["'`]((?:https?:)?//[^"'`]+)""")
N_PAGES, N_SECTIONS = 40, 200  # there are more; fewer means that something was not built


class Page(HTMLParser):
    """The assets, links and anchors of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.assets: list[str] = []
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.draws = False  # by a program that the theme would load from elsewhere

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collects the addresses of a tag."""
        values = {name: value or "" for name, value in attrs}
        self.anchors |= {values[name] for name in ("id", "name") if name in values}
        self.assets += [values[name] for name in ("src", "srcset") if tag in ASSETS and values.get(name)]
        if tag == "link" and values.get("rel") not in ("next", "prev", "canonical"):
            self.assets.append(values.get("href", ""))
        if "mermaid" in values.get("class", "").split():
            self.draws = True
        if tag == "a" and "href" in values:
            self.links.append(values["href"])


def problems(site: Path) -> Iterator[str]:
    """The faults of a built site, one sentence each."""
    pages = {path.resolve(): read(path) for path in site.rglob("*.html")}
    if len(pages) < N_PAGES:
        yield f"{site}: {len(pages)} pages, fewer than {N_PAGES}"
    for path, page in pages.items():
        yield from (f"{path}: loads {asset}" for asset in page.assets if ELSEWHERE.match(asset))
        if page.draws:
            yield f"{path}: loads a drawing program (class mermaid)"
        if path.name != "404.html":  # its links begin at the root of whatever serves it
            links = (*page.links, *page.assets)
            yield from (f"{path}: {link} leads nowhere" for link in links if not leads(path, link, pages))
    for path in site.rglob("*.css"):
        yield from (f"{path}: loads {url}" for url in IN_STYLE.findall(path.read_text(encoding="utf-8")))
    for path in site.rglob("*.js"):
        yield from (f"{path}: loads {url}" for url in IN_SCRIPT.findall(path.read_text(encoding="utf-8")))
    yield from search_problems(site)


def read(path: Path) -> Page:
    """A page of the site."""
    page = Page()
    page.feed(path.read_text(encoding="utf-8"))
    return page


def leads(path: Path, link: str, pages: dict[Path, Page]) -> bool:
    """Whether a link of a page has a target. Links to other hosts are not checked."""
    if ELSEWHERE.match(link) or link.startswith(("mailto:", "data:")):
        return True
    parts = urlsplit(link)
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if target.is_dir():
        target /= "index.html"
    anchor = unquote(parts.fragment)
    return target.is_file() and (not anchor or target not in pages or anchor in pages[target].anchors)


def search_problems(site: Path) -> Iterator[str]:
    """Whether the search has its code, and an index whose sections exist."""
    index = site / "search.json"
    if not index.is_file():
        yield f"{index} is not there"
        return
    sections = json.loads(index.read_text(encoding="utf-8"))["items"]
    locations = {section["location"].partition("#")[0] for section in sections}
    if len(sections) < N_SECTIONS:
        yield f"{index}: {len(sections)} sections, fewer than {N_SECTIONS}"
    yield from (f"{index}: {name} is not there" for name in sorted(locations) if not (site / (name or ".")).exists())
    if not list(site.glob("assets/javascripts/workers/search*.js")):
        yield f"{site}: the search has no code"


def main() -> None:
    """Checks the site in the given directory."""
    result = list(problems(Path(sys.argv[1])))
    print("\n".join(result) or "the site needs nothing from elsewhere, and its links lead somewhere")
    sys.exit(1 if result else 0)


if __name__ == "__main__":
    main()
