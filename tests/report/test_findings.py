import csv
import dataclasses
import re
import sys
from xml.etree import ElementTree

import matplotlib
import numpy as np
import pytest
from makers.hostile import markdown_tokens
from makers.pages import check_policy, contrast
from pfgen_fast import PfgenError
from pfgen_fast.lab.chart_data import Density, Line, LinePanel, LinePanels, Matrix, Points, Ranges, Scatter
from pfgen_fast.lab.finding import Finding, Picture, finding_table
from pfgen_fast.report import drawing
from pfgen_fast.report.charts import drawn
from pfgen_fast.report.drawing import COLORS, FAULT, LEVELS, QUIET, stored
from pfgen_fast.report.findings import write_finding

UP = np.array([0.0, 1.0, 2.0])
POINTS = Points(UP, UP**2, "across", "up $x$", title="squares", labels=("", "", "the last"))


def a_finding(name="trial", **changes):
    table = finding_table("figures", "Figures", ("model", "value"), (("<b>=a|b</b>", 0.25), ("b", None)))
    pictures = (Picture("line", "A line", Scatter((POINTS,))),)
    usual = Finding(name, "All <i>is</i> well.", "It was <i>not</i> before.", (table,), pictures)
    return dataclasses.replace(usual, **changes)


def test_a_finding_is_a_page_markdown_tables_and_pictures_and_always_the_same_bytes(tmp_path):
    paths = write_finding(a_finding(), tmp_path / "a")
    names = ["trial.html", "trial-line.png", "trial-line.svg", "trial-figures.csv", "trial.md"]
    assert [path.name for path in paths] == names
    assert set(paths) == set((tmp_path / "a").iterdir())
    assert paths[1].read_bytes().startswith(b"\x89PNG")
    with paths[3].open(newline="") as file:
        assert list(csv.reader(file)) == [["model", "value"], ["<b>=a|b</b>", "0.25"], ["b", ""]]
    again = write_finding(a_finding(), tmp_path / "b")
    assert [path.read_bytes() for path in paths] == [path.read_bytes() for path in again]


def test_pages_need_no_network_and_names_and_untrusted_texts_are_text(tmp_path):
    write_finding(a_finding(notes=("left out: \x1b[31m<script>",)), tmp_path)
    page = (tmp_path / "trial.html").read_text()
    assert "http://" not in page.replace("http://www.w3.org", "")
    assert not [text for text in ("<b>=a|b", "<i>", "\x1b") if text in page]
    assert r"left out: \u001b[31m&lt;script&gt;" in page
    check_policy(page)
    points = Points(UP, UP, "across", "{judge} {0}", labels=("a", "b", "c"))
    write_finding(a_finding(pictures=(Picture("line", "A line", Scatter((points,))),)), tmp_path)
    page = (tmp_path / "trial.html").read_text()
    assert '"x":[0.0,1.0,2.0]' in page
    assert '"y_label":"{judge} {0}"' in page


def test_a_missing_library_is_named_before_anything_is_written(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(PfgenError, match=r"a picture needs matplotlib.*pip install 'pfgen-fast\[plots\]'"):
        write_finding(a_finding(), tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_picture_has_the_colours_of_the_pages_on_a_dark_ground():
    values = np.array([[0.91, 0.97], [0.94, 1.0]])
    svg = stored(drawn(Matrix(("a", "b"), ("c", "d"), values, "r", 0.9)), "svg").decode()
    style = svg.partition("@media(prefers-color-scheme:dark){")[2].partition("</style>")[0]
    used = [(kind, color) for kind in ("fill", "stroke") for color in LEVELS if f"{kind}: {color}" in svg]
    rules = {f"{kind}: {light}": dark for light, kind, dark in re.findall(r": (#\w+)\"\]{(\w+):(#\w+)!", style)}
    assert len(used) > 3
    assert contrast(rules["fill: #59616b"], rules["fill: #ffffff"]) >= 4.5  # figures on axes
    contrasts = [contrast(rules[f"{kind}: {color}"], rules["fill: #ffffff"]) for kind, color in used]
    assert contrasts == sorted(contrasts)
    assert (
        "#on-level-7, #on-level-8, #on-diverging-0, #on-diverging-8, #on-diverging-fault) text{fill:#000!important}"
        in style
    )


def texts_in(chart):
    root = ElementTree.fromstring(stored(drawn(chart), "svg"))
    return {"".join(element.itertext()).strip() for element in root.iter() if element.tag.endswith("}text")}


def test_titles_and_names_are_harmless_in_pictures_markdown_and_csv(tmp_path):
    assert r"a\u001b[31m\u202e\nb $c$" in texts_in(Ranges(("a\x1b[31m\u202e\nb $c$",), UP[:1], None, None, "rank"))
    hostile = "=a](javascript:x) <b>\n# b"
    table = finding_table("figures", hostile, (hostile, "value"), ((hostile, -0.25),))
    picture = Picture("line", hostile, Scatter((POINTS,)))
    finding = a_finding(answer=hostile, paragraph=hostile, tables=(table,), pictures=(picture,), notes=(hostile,))
    tokens = markdown_tokens(finding.to_markdown())
    assert [token.tag for token in tokens if token.type == "heading_open"] == ["h1", "h2", "h2"]
    assert [token.attrs["src"] for token in tokens if token.type == "image"] == ["trial-line.svg"]
    assert not [token for token in tokens if token.type in ("link_open", "html_inline", "html_block")]
    assert table.to_csv() == "'=a](javascript:x) <b>\\n# b,value\n'=a](javascript:x) <b>\\n# b,-0.25\n"


BAND = LinePanel("questions", (Line("mean", UP[:2], UP[1:], UP[:2], UP[1:]),), (0.9,), ("1", "1,000"))
CHARTS = [
    (Scatter((POINTS, Points(UP, UP, "b", "c"))), {"across", r"up $x$", "squares", "the last", "b", "c"}),
    (Scatter((Points(-UP, UP, "b", "c"),)), {"-2.0"}),  # a minus as in tables
    (Density((POINTS,), unit="answers"), {"across", "answers"}),
    (Matrix(("a", "b"), ("c", "d"), np.eye(2), "r", 0.5), {"a", "d", "1.00000", "r (colours from 0.5 to 1)"}),
    (Ranges(("$a$", "b", "c"), UP, UP - 1, UP + 1, "rank"), {"$a$", "b", "c", "rank"}),
    (Ranges(("a", "b", "c"), UP, None, None, "rank"), {"a", "rank"}),
    (Ranges(("a", "b", "c"), UP, None, None, "rank", n_all=1516), {"the first 3 of 1,516"}),
    (LinePanels((BAND,), "n", "tau"), {"1,000", "tau", "questions"}),
]


@pytest.mark.slow
@pytest.mark.parametrize(("chart", "expected"), CHARTS)
def test_a_chart_shows_its_words_as_they_are(chart, expected):
    assert expected <= texts_in(chart)


def test_every_colour_can_be_seen_on_white_and_those_without_a_theme_on_dark_pages():
    for ground in ("#ffffff", "#14171c"):
        assert (
            min(contrast(color, ground) for color in (*COLORS, QUIET, *((FAULT,) if ground == "#ffffff" else ()))) >= 3
        )
    assert f"stroke: {QUIET}" in stored(drawn(Density((POINTS,), unit="answers")), "svg").decode()  # edges of cells


def test_labels_stay_in_their_panel_and_cover_neither_points_nor_each_other():
    x, y = np.random.default_rng(0).normal(size=(2, 300))
    labels = tuple(f"organization/a-model-with-a-long-name-{number}" for number in range(300))
    panel = Points(x, y, "x", "y", labels=labels)
    for axes in drawn(Scatter((panel, panel))).axes:
        boxes, frame = [text.get_window_extent() for text in axes.texts], axes.get_window_extent()
        assert 3 <= len(boxes) <= 8
        assert all(text.get_text().startswith("a-model") for text in axes.texts)
        for number, box in enumerate(boxes):
            assert frame.x0 <= box.x0 <= box.x1 <= frame.x1
            assert frame.y0 <= box.y0 <= box.y1 <= frame.y1
            assert not any(box.overlaps(other) for other in boxes[:number])
            assert not box.count_contains(axes.transData.transform(np.column_stack([x, y])))


JAPANESE = "日本語のモデル㈱ｱ"


def chart_of(name):
    return Ranges((name, "b", "c"), UP, None, None, "rank")


@pytest.fixture
def installed(monkeypatch):

    def install(*names):
        monkeypatch.setattr(drawing, "_OTHERS", names)
        drawing._family_with.cache_clear()
        drawing._fonts.cache_clear()

    yield install
    monkeypatch.undo()
    install(*drawing._OTHERS)


def test_installed_fonts_do_not_change_a_picture(installed):
    installed("DejaVu Serif", "No Such Font")
    before = stored(drawn(chart_of(JAPANESE)), "png")
    installed()
    assert stored(drawn(chart_of(JAPANESE)), "png") == before
    # A character that no font has is shown by its code.
    assert drawing.plain("한 🦙 ice") == "U+D55C U+1F999 ice"


def test_a_font_for_japanese_changes_no_setting_and_no_picture_without_japanese():
    before = dict(matplotlib.rcParams)
    assert b"IPAexGothic" in stored(drawn(chart_of(JAPANESE)), "svg")
    assert b"IPAexGothic" not in stored(drawn(Scatter((POINTS,))), "svg")
    assert dict(matplotlib.rcParams) == before
    assert "matplotlib_fontja" not in sys.modules
