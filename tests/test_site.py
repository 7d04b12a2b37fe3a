"""The documentation site: faults that its check finds, and the built site in Chromium (after `make docs`)."""

import functools
import http.server
import json
import re
import threading

import pytest
from makers.documented import DOCS, ROOT, tool
from makers.pages import open_browser

check_site = tool("check_site")

SITE = ROOT / "build" / "site"
PAGE = '<html><body><h1 id="a">A</h1><a href="b.html#b">b</a><img src="a.svg"></body></html>'


@pytest.fixture
def small_site(tmp_path, monkeypatch):
    monkeypatch.setattr(check_site, "N_PAGES", 2)
    monkeypatch.setattr(check_site, "N_SECTIONS", 2)
    (tmp_path / "a.html").write_text(PAGE)
    (tmp_path / "a.svg").touch()
    (tmp_path / "b.html").write_text('<html><body><p id="b"></p><a href="https://example.org">away</a></body></html>')
    (tmp_path / "assets/javascripts/workers").mkdir(parents=True)
    (tmp_path / "assets/javascripts/workers/search.1.js").write_text('fetch("search.json")')
    sections = [{"location": "a.html"}, {"location": "b.html#b"}]
    (tmp_path / "search.json").write_text(json.dumps({"items": sections}))
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
        ("a.html", "a.svg", "b.svg", "b.svg leads nowhere"),
        ("a.html", "<img", '<img srcset="b.svg"', "b.svg leads nowhere"),
        ("a.html", "b.html#b", "c.html", "c.html leads nowhere"),
        ("a.html", "b.html#b", "b.html#c", "b.html#c leads nowhere"),
        ("assets/javascripts/workers/search.1.js", "search.json", "//example.org/", "loads //example.org/"),
        ("search.json", "b.html#b", "c.html", "c.html is not there"),
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


QUERIES = {
    "csv": ("start",),
    "breaking changes": ("stability",),
    "own domain": ("guides/suite_author",),
    "truthfulness": ("scoring", "footguns", "what_the_score_sees"),
    "雷が光ってから": ("building",),
}
"""Queries, and pages of which some must be among the results."""


@pytest.mark.browser
def test_the_built_site_asks_nobody_else_and_its_search_finds(served):
    with open_browser() as browser:
        page = browser.new_page(viewport={"width": 390, "height": 800})
        asked, failed = [], []
        page.on("request", lambda request: asked.append(request.url))
        page.on("pageerror", lambda error: failed.append(str(error)))
        for name in ("index", "start", "try", "what_the_score_sees", "reference/pfgen_fast", "repository/bench/index"):
            page.goto(f"{served}/{name}.html", wait_until="networkidle")
            assert page.evaluate("document.documentElement.scrollWidth") <= 390, name  # nothing sticks out
        page.set_viewport_size({"width": 1280, "height": 800})
        for address in (served, SITE.as_uri()):  # from a server, and from disk
            page.goto(f"{address}/index.html")
            page.click(".md-search__button")
            for query, results in QUERIES.items():
                page.fill("[role=combobox]", query)
                page.wait_for_selector(", ".join(f"[role=option][href^='{address}/{name}']" for name in results))
    assert failed == []
    assert [url for url in asked if not url.startswith((served, SITE.as_uri(), "data:", "blob:"))] == []
    assert len(asked) > 10


GLOSSARIES = ("glossary", "ja/glossary")
TERMS = """LLM-as-a-judge|Nejumi|RAG|hill-climb|distributional hypothesis|fluency|truthfulness|helpfulness|many-shot|
HelloEval|Bloom|checklist|reasonable rate|win rate|long-context|length constraint|linear regression|Repetition-4|PPL|
response style|metric misunderstanding|expert weight|Wilcoxon|harmonic mean|Auto-CoT|SummEval|WMT-22|流暢さ|真実性|
有用性|参照回答群|回答例|分布仮説|山登り法|ハルシネーション|公用文|学習指導要領|リーダーボード|チェックリスト|勝率|専門家の重み|調和平均"""
"""Words for which readers of the papers look; "|" stands between two."""
SEARCH = """async (queries) => {
  const worker = new Worker(JSON.parse(document.getElementById("__config").textContent).search);
  const reply = () => new Promise(resolve => { worker.onmessage = event => resolve(event.data.data); });
  const index = await (await fetch("search.json")).json();
  worker.postMessage({ type: 0, data: index });
  await reply();
  const results = [];
  const filter = { input: { type: "operator", data: { operator: "and", operands: [] } }, aggregation: { input: [] } };
  for (const input of queries) {
    worker.postMessage({ type: 2, data: { input, filter } });
    const pages = (await reply()).items.map(({ id }) => index.items[id].location.split("#")[0]);
    results.push([...new Set(pages)]);
  }
  return results;
}"""


def terms(name):
    """The terms of a glossary, and the line below each."""
    text = (DOCS / f"{name}.md").read_text(encoding="utf-8")
    entries = re.findall(r"^### (.+)\n\n(.+)$", text, flags=re.MULTILINE)
    assert len(entries) == text.count("\n### ")
    return {term: line for head, line in entries for term in re.split(r", |、|; |（|）| \(|\)", head) if term}


def test_the_words_of_the_papers_are_in_a_glossary_and_lead_on():
    entries = {**terms(GLOSSARIES[0]), **terms(GLOSSARIES[1])}
    assert [term for term in TERMS.replace("\n", "").split("|") if term not in " ".join(entries)] == []
    assert [term for term, line in entries.items() if "](" not in line] == []


@pytest.mark.browser
@pytest.mark.parametrize("name", GLOSSARIES)
def test_the_search_finds_each_term_of_the_papers(served, name):
    queries = list(terms(name))
    with open_browser() as browser:
        page = browser.new_page()
        page.goto(f"{served}/index.html")
        results = page.evaluate(SEARCH, queries)
    missing = {query for query, pages in zip(queries, results, strict=True) if f"{name}.html" not in pages}
    assert missing <= {"checklist", "S", "LE", "D", "R-4", "D-4"}  # many pages have these, and a search shows ten
