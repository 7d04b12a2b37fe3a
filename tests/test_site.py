"""The documentation site: faults that its check finds, and the built site in Chromium (after `make docs`)."""

import functools
import http.server
import json
import threading

import pytest
from makers.documented import ROOT, tool
from makers.pages import open_browser

check_site = tool("check_site")

SITE = ROOT / "build" / "site"
PAGE = '<html><body><h1 id="a">A</h1><a href="b.html#b">b</a><img src="a.svg"></body></html>'


@pytest.fixture
def small_site(tmp_path, monkeypatch):
    """A small site without a fault."""
    monkeypatch.setattr(check_site, "N_PAGES", 2)
    monkeypatch.setattr(check_site, "N_SECTIONS", 2)
    (tmp_path / "a.html").write_text(PAGE)
    (tmp_path / "b.html").write_text('<html><body><p id="b"></p><a href="https://example.org">away</a></body></html>')
    for name in ("search", "assets/javascripts/workers"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "assets/javascripts/workers/search.1.js").write_text('fetch("search_index.json")')
    sections = [{"location": "a.html"}, {"location": "b.html#b"}]
    (tmp_path / "search" / "search_index.json").write_text(json.dumps({"docs": sections}))
    return tmp_path


def test_a_site_without_a_fault_passes(small_site):
    assert list(check_site.problems(small_site)) == []


@pytest.mark.parametrize(
    ("name", "before", "after", "message"),
    [
        ("a.html", "a.svg", "https://example.org/a.svg", "loads https://example.org/a.svg"),
        ("a.html", "<h1", '<link rel="stylesheet" href="https://a.org/a.css"><h1', "loads https://a.org/a.css"),
        ("a.html", "<h1", '<script src="http://example.org/a.js"></script><h1', "loads http://example.org/a.js"),
        ("a.html", "<h1", '<pre class="mermaid">a</pre><h1', "loads a drawing program"),
        ("a.html", "b.html#b", "c.html", "c.html leads nowhere"),
        ("a.html", "b.html#b", "b.html#c", "b.html#c leads nowhere"),
        ("assets/javascripts/workers/search.1.js", "search_index", "//example.org/", "loads //example.org/"),
        ("search/search_index.json", "b.html#b", "c.html", "c.html is not there"),
    ],
)
def test_a_fault_is_named(small_site, name, before, after, message):
    text = (small_site / name).read_text()
    assert before in text
    (small_site / name).write_text(text.replace(before, after))
    [problem] = check_site.problems(small_site)
    assert message in problem


@pytest.fixture(scope="module")
def served():
    """The built site on the loopback."""
    if not (SITE / "index.html").is_file():
        pytest.skip("the site is not built: make docs")

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(SITE)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()


@pytest.mark.browser
def test_the_built_site_asks_nobody_else_and_its_search_finds(served):
    with open_browser() as browser:
        page = browser.new_page(viewport={"width": 390, "height": 800})
        asked, failed = [], []
        page.on("request", lambda request: asked.append(request.url))
        page.on("pageerror", lambda error: failed.append(str(error)))
        for name in ("index", "start", "what_the_score_sees", "reference/pfgen_fast", "repository/bench/index"):
            page.goto(f"{served}/{name}.html", wait_until="networkidle")
            assert page.evaluate("document.documentElement.scrollWidth") <= 390, name  # nothing sticks out
        page.set_viewport_size({"width": 1280, "height": 800})
        page.goto(f"{served}/index.html")
        page.fill(".md-search__input", "truthfulness")
        page.wait_for_selector(".md-search-result__item", timeout=20_000)
        links = page.eval_on_selector_all(".md-search-result__link", "links => links.map(link => link.pathname)")
        page.fill(".md-search__input", "雷が光ってから")
        page.wait_for_timeout(1000)
        assert page.query_selector(".md-search-result__item")
    assert {link.partition("#")[0] for link in links} & {"/scoring.html", "/footguns.html", "/what_the_score_sees.html"}
    assert failed == []
    assert [url for url in asked if not url.startswith((served, "data:", "blob:"))] == []
    assert len(asked) > 10
