"""The page where anyone can try it, and the same field in a report: figures as in Python, files, links, bad input."""

import base64
import csv
import io
import json
import re
import shutil

import pytest
from makers.documented import DOCS, ROOT, tool
from makers.reported import reported_run
from makers.reward_server import wait_until
from pfgen_fast import Scorer, Suite
from pfgen_fast.report import trying, write_report
from pfgen_fast.report.answers import packed
from pfgen_fast.report.site_server import SiteServer
from pfgen_fast.scoring.tinting import QuestionTints

NO_MODULE = "no WebAssembly module: make wasm"
pytestmark = [pytest.mark.browser, pytest.mark.skipif(not trying.MODULE.is_file(), reason=NO_MODULE)]

ANSWER = "Ice floats because its open molecules are less dense; it has 9% more space 𠮷."
DROP = """async ([name, content]) => {
  const bytes = Uint8Array.from(atob(content), (character) => character.charCodeAt(0));
  const dataTransfer = new DataTransfer();
  dataTransfer.items.add(new File([bytes], name));
  document.getElementById("try").dispatchEvent(new DragEvent("drop", { dataTransfer, bubbles: true }));
}"""
MARKS = """() => [...document.querySelectorAll(".result .answer span")].flatMap((span) =>
  Array.from(span.textContent, () => span.className[1])).join("")"""
ROWS = "rows => rows.map(row => [...row.cells].map(cell => cell.textContent))"


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The page in both languages, as the site has it."""
    folder = tmp_path_factory.mktemp("site")
    for name, content in tool("try_page").try_files().items():
        (folder / "try").mkdir(exist_ok=True)
        (folder / "try" / name).write_text(content, encoding="utf-8")
    for name, language in (("try", "en"), ("ja/try", "ja")):
        element = re.search(r"<div id=.*", (DOCS / f"{name}.md").read_text(encoding="utf-8"))[0]
        head = '<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Try it</title>'
        style = "<style>:root { color-scheme: light dark; font: 20px sans-serif; background: var(--ground); }</style>"
        (folder / name).parent.mkdir(exist_ok=True)
        page = f'<!doctype html><html lang="{language}">{head}{style}<main><h1>Try it</h1>{element}</main></html>'
        (folder / f"{name}.html").write_text(page, encoding="utf-8")
    return folder


@pytest.fixture
def opened(open_tab, site):

    def open_page(name="try", fragment="", **options):
        page = open_tab(site / f"{name}.html", fragment, **options).page
        if not fragment:
            page.click("#try > button")
        page.wait_for_selector("#try textarea")
        return page

    return open_page


def drop(page, name, content):
    page.evaluate(DROP, [name, base64.b64encode(content).decode("ascii")])


def shown_score(page, text):
    """The score that the page shows for an answer."""
    page.evaluate(
        """(text) => {
          const field = document.querySelector("textarea");
          field.value = text;
          field.dispatchEvent(new Event("input"));
          return new Promise(requestAnimationFrame);  // called after the page's own
        }""",
        text,
    )
    return page.text_content(".scores b, .result [role=alert]", timeout=60_000)


@pytest.mark.parametrize(("name", "dark"), [("try", True), ("ja/try", False)])
def test_an_answer_is_scored_and_marked_at_each_keystroke_as_in_python(open_tab, site, mini, name, dark):
    size = {"width": 390, "height": 844}
    tab = open_tab(site / f"{name}.html", viewport=size, color_scheme="dark" if dark else "light")
    page, asked = tab.page, []
    page.on("request", lambda request: asked.append(request.url))
    page.wait_for_selector("#try > button")
    size = sum((site / "try" / f"{data}.js").stat().st_size for data in ("mini", "module"))
    assert f"{size / 1000:.0f} KB" in page.text_content("#try > button")
    assert not [url for url in asked if url.endswith(("mini.js", "module.js"))]  # they are loaded on demand
    page.press("#try > button", "Enter")
    page.wait_for_selector("select:focus")
    scorer = Scorer(mini)
    for key, typed in (("Q07", ANSWER), ("Q01", mini["Q01"].answers["A"][0])):
        page.select_option("select", key)
        page.type("textarea", typed)
        page.wait_for_timeout(100)
        scores = scorer.score(key, [typed])
        assert page.text_content(".scores b") == f"{scores['average'][0]:.4f}"
        parts = re.findall(r"\d\.\d{3}\b", page.text_content(".scores span"))
        assert parts == [f"{scores[part][0]:.3f}" for part in ("fluency", "truthfulness", "helpfulness")]
        assert page.evaluate(MARKS) == QuestionTints(mini[key]).levels([typed])[0]
        references = [text for texts in mini[key].answers.values() for text in texts]
        n_below = int((scorer.score(key, references).average.round(6) < round(scores.average[0], 6)).sum())
        assert {str(n_below), str(len(references))} <= set(re.findall(r"\d+", page.text_content(".standing")))
    page.select_option("select", "Q07")
    shown_score(page, ANSWER)
    framed = page.eval_on_selector_all(".result mark", "marks => marks.map(mark => mark.textContent)")
    assert {"dense", "molecules"} <= set(framed)
    shown_score(page, "")
    assert ("Missing keywords" if name == "try" else "足りないキーワード") in page.text_content(".result .missing")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert tab.faults() == []
    assert not [url for url in asked if not url.startswith((site.as_uri(), "blob:"))]


def test_earlier_answers_come_back_and_a_link_holds_question_and_answer(opened):
    page = opened()
    page.select_option("select", "Q07")
    page.fill("textarea", "Ice floats on water.")
    page.locator("[role=status]", has_text=re.compile(r"^Score 0\.")).wait_for()  # when settled
    page.fill("textarea", "Ice is less dense & floats on water.")
    assert "after adding lower density" in page.text_content(".history li:nth-child(2)")
    page.press("textarea", "Alt+ArrowUp")
    assert page.input_value("textarea") == "Ice floats on water."
    page.click(".history li:nth-child(2) button")
    assert page.input_value("textarea") == "Ice is less dense & floats on water."
    page.click("text=Copy link")
    again = opened(fragment=page.evaluate("location.hash"))
    assert (again.input_value("select"), again.input_value("textarea")) == ("Q07", page.input_value("textarea"))
    unknown = opened(fragment="#question=Q99&answer=Ice")
    assert "unknown question 'Q99'" in unknown.text_content("#try > [role=alert]:not([hidden])")
    assert unknown.input_value("textarea") == "Ice"


def test_a_table_is_ranked_and_saved_as_in_python(opened, tmp_path):
    path = ROOT / "examples" / "demo_answers.jsonl"
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    rows = [{**row, "answer": f'- {row["answer"]}\n= "a",\tb\r\nc', "model": f"={row['model']}"} for row in rows]
    page = opened()
    drop(page, "slow.csv", b"question,answer\n" + b"Q02,Ice\n" * 3000)
    drop(page, path.name, "\n".join(map(json.dumps, rows)).encode())
    page.wait_for_selector("#try tbody tr")
    page.wait_for_timeout(500)  # in which slow.csv would be scored
    assert page.text_content("#try > section h2") == f"Ranking of {path.name}"
    shown = page.eval_on_selector_all("#try tbody tr", ROWS)
    means = {}
    for row in rows:
        average = Scorer("mini").score_one(row["question"], row["answer"])["average"]
        means.setdefault(row["model"], []).append(average)
    ranked = sorted(means, key=lambda model: -sum(means[model]))
    assert [(row[1], row[2], row[-1]) for row in shown] == [
        (model, f"{sum(means[model]) / len(means[model]):.4f}", str(len(means[model]))) for model in ranked
    ]
    with page.expect_download() as saved:
        page.click("text=Save all scores")
    read = list(csv.DictReader(io.StringIO(saved.value.path().read_bytes().decode(), newline="")))
    assert [{name: own[name] for name in row} for row, own in zip(rows, read, strict=True)] == rows  # as they were
    assert [float(row["average"]) for row in read] == Scorer("mini").score(
        [row["question"] for row in rows], [row["answer"] for row in rows]
    ).average.tolist()


def test_a_compiled_suite_of_the_visitor_replaces_mini(opened, site, tmp_path):
    source = ROOT / "python" / "pfgen_fast" / "data" / "mini"
    (tmp_path / "Q08.json").write_bytes((source / "Q08.json").read_bytes())
    question = json.loads((source / "Q02.json").read_text(encoding="utf-8"))
    question["keywords"].append({"t": "(?<=a)b", "importance": 0.5})
    (tmp_path / "Q02.json").write_text(json.dumps(question), encoding="utf-8")
    own = Suite.load(tmp_path)
    runs = {"hash": own.metadata_hash, "n": 4, "questions": {"Q08": [0, 10_000, 500_000, 900_000]}}
    (site / "try" / "published.js").write_text(f'register(["{packed(runs)}"]);', encoding="utf-8")
    page = opened(fragment="#question=Q07&answer=Ice")
    drop(page, "own.pfgen", Scorer(own).to_bytes())
    wait_until(lambda: page.evaluate("document.querySelector('select').length === 2"))
    assert page.eval_on_selector("#try > [role=alert]", "problem => problem.hidden")
    assert not page.is_visible("text=Copy link")
    page.select_option("select", "Q02")
    assert shown_score(page, ANSWER) == "not known here"
    assert "Not checked here, only in Python: (?<=a)b" in page.text_content(".result")
    assert page.query_selector(".standing") is None
    drop(page, "own.csv", "question,answer,model\nQ02,Ice,a\nQ02,Ice,b\nQ08,Ice,c\n".encode("utf-16"))
    page.locator("text=A model has no rank if only Python can check").wait_for()
    assert [row[:2] for row in page.eval_on_selector_all("#try tbody tr", ROWS)] == [["1", "c"], ["–", "a"], ["–", "b"]]
    page.select_option("select", "Q08")
    average = Scorer(own).score_one("Q08", ANSWER)["average"]
    assert shown_score(page, ANSWER) == f"{average:.4f}"
    assert 0.01 < average < 0.5
    assert "of the 4 published runs, it would rank 3." in page.text_content(".standing")
    assert "no texts of reference answers" in page.text_content(".reference")


PARTS = Scorer("mini").to_bytes()
BAD = {
    "cut.pfgen": (PARTS[:-1000], "cut.pfgen: the compiled suite"),
    "other.pfgen": (PARTS[:8] + b"\x63" + PARTS[9:], "other.pfgen: the compiled suite"),
    "empty.pfgen": (b"", "empty.pfgen: the compiled suite"),
    "a.csv": (b"question;answer\nQ07;Ice\n", "a.csv, line 1: expected commas between the columns, not semicolons"),
    "b.csv": (b"question,answer\nQ07,Ice\nQ99,x\n", "b.csv, line 3: unknown question 'Q99'"),
    "c.csv": (b'question,answer\nQ07,"Ice\n', "c.csv, line 2: not CSV: unexpected end of data"),
    "d.csv": (b"question,answer\nQ07\n", "d.csv, line 2: 1 fields; expected 2, as in the header"),
    "e.csv": (b"question,text\nQ07,Ice\n", "e.csv: expected a column of answers, such as 'answer'; there are"),
    "f.jsonl": (b'{"question": "Q07", "answer": 3}\n', "f.jsonl, line 1: 'answer': expected a string, not number"),
    "g.jsonl": (b'{"question": "Q07"\n', "g.jsonl, line 1: not JSON"),
    "h.csv": (b"question,answer\nQ07,\xff\n", "h.csv, line 2: not UTF-8; save the file as UTF-8"),
    "i.csv": (b"", "i.csv: empty; expected a header with the names of the columns"),
    "j.csv": (b"question,answer\n", "j.csv: no answer has a score"),
    "l.txt": (b"Ice floats.", "l.txt: expected a name that ends in .pfgen, .csv, .tsv or .jsonl"),
    "k.csv": (b"question,answer,average\n", "k.csv: there is already a column 'average', the name of a score"),
}


def test_bad_files_and_texts_get_a_sentence_and_the_page_goes_on(opened, mini):
    page = opened()
    page.select_option("select", "Q07")
    scorer = Scorer(mini)
    for name, (content, message) in BAD.items():
        drop(page, name, content)
        page.locator("#try > [role=alert]", has_text=re.compile(f"^{re.escape(message)}")).wait_for()
    for text in ("a\ud800b Ice floats", "Ice floats. " * 100_000, ANSWER):
        assert shown_score(page, text) == f"{scorer.score_one('Q07', text)['average']:.4f}"


def test_a_site_without_the_module_says_how_to_build_it(opened, site, monkeypatch, tmp_path, open_tab):
    page_files = tool("try_page")
    monkeypatch.setattr(page_files, "MODULE", tmp_path / "none")
    shutil.copytree(site, tmp_path, dirs_exist_ok=True)
    (tmp_path / "try" / "try.js").write_text(page_files.try_files()["try.js"], encoding="utf-8")
    assert "make wasm" in open_tab(tmp_path / "try.html").page.text_content("#try [role=status]")


@pytest.mark.parametrize("name", ["report.html", "folder", "served"])
def test_a_report_scores_another_answer(open_tab, mini, tmp_path, name):
    runs = [reported_run(mini, f"org/{name}/1", score=score) for name, score in (("a", 0.8), ("b", 0.3))]
    write_report(runs, mini, tmp_path / name, can_try=True, is_live=name == "served")
    path = tmp_path / name if name == "report.html" else tmp_path / name / "index.html"
    assert "'wasm-unsafe-eval'" in path.read_text(encoding="utf-8").partition("style-src")[0]
    with SiteServer(tmp_path / name) as server, server.running():
        tab = open_tab(path, "#/question=Q07")
        if name == "served":
            tab.page.goto(f"{server.address}#/question=Q07")
        tab.page.click("text=Score another answer here")
        tab.page.wait_for_selector("dialog textarea")
        assert shown_score(tab.page, ANSWER) == f"{Scorer(mini).score_one('Q07', ANSWER)['average']:.4f}"
        assert "it would rank 2 of 3." in tab.page.text_content(".standing")
        assert tab.faults() == []
        tab.page.close()  # before its server
