"""Figures and pictures of the docs come from files of the repository, and these from programs that the docs name."""

import json
import re

import pytest
from figures import experiment_figures, hellobench_figures, page_figures  # noqa: F401 (they register)
from figures.registry import REGISTRY, blocks, needs_a_program, numbers, pages
from makers import published
from makers.documented import DOCS, ROOT, tool

FROM_THE_FILE = ("footguns.md", "training.md", "what_the_score_sees.md")
"""Pages whose figures of the n-gram scores are in docs/figures/sensitivity.csv."""
RECORDS = ("architecture.md", "design/native_core.md")
"""Decisions, with the figures of their time."""


@pytest.fixture(scope="module")
def sensitivity():
    return tool("sensitivity")


@pytest.fixture(scope="module")
def figures(sensitivity):
    return sensitivity.read(sensitivity.FIGURES)


@pytest.fixture(scope="module")
def known(figures, sensitivity):
    """The figures of the file, as pages print them."""
    every = [*figures.values(), *sensitivity.read(tool("normalised").DAMAGE).values()]
    return {f"{abs(float(row[name])):.3f}" for row in every for name in ("mean_drop", "mean_original")}


def the_block(name, begins):
    listed = [block for block in blocks(DOCS / name) if block.startswith(begins)]
    assert len(listed) == 1, f"docs/{name}: expected one block that begins with {begins!r}, got {len(listed)}"
    return listed[0]


@pytest.mark.slow
@pytest.mark.parametrize(
    "entry", [pytest.param(entry, marks=entry.marks, id=f"{entry.page}-{entry.begins[:40]}") for entry in REGISTRY]
)
def test_the_figures_of_a_block_are_those_that_are_computed(entry):
    assert numbers(the_block(entry.page, entry.begins)) == " ".join(entry.compute()).split()


def test_every_figure_in_the_docs_is_computed(known):
    computed = {(entry.page, the_block(entry.page, entry.begins)) for entry in REGISTRY}
    every = ((page.relative_to(DOCS).as_posix(), block) for page in pages() for block in blocks(page))
    left = [
        f"docs/{name}: {block[:90]}"
        for name, block in every
        if name not in RECORDS
        if needs_a_program(block) and (name, block) not in computed
        if name not in FROM_THE_FILE or not set(re.findall(r"\b\d\.\d{3,}", block)) <= known
    ]
    advice = "compute these figures (tests/figures/registry.py), or say where they were measured:"
    assert not left, "\n".join([advice, *left])


def test_the_picture_of_the_speed_is_what_its_program_draws():
    program = tool("site_pictures")
    _, saved = speed_figures()
    assert program.SPEED.read_text(encoding="utf-8") == program.draw_speed(saved)
    shown = re.findall(r"\d[\d,]+(?=</text>)", program.draw_speed(saved))
    assert all(figure in (ROOT / "bench" / "README.md").read_text(encoding="utf-8") for figure in shown)


def test_the_page_about_the_score_has_the_figures_of_the_file(sensitivity, figures):
    page = sensitivity.PAGE.read_text(encoding="utf-8")
    written = page.partition(sensitivity.BEGIN)[2].partition(sensitivity.END)[0]
    assert written.strip() == "\n".join(sensitivity.table(figures))
    assert sensitivity.PICTURE.read_text(encoding="utf-8") == sensitivity.draw(figures)


def test_the_figures_of_the_normalised_profile_are_those_of_the_files():
    program = tool("normalised")
    for path in program.PAGES:
        written = path.read_text(encoding="utf-8").partition(program.BEGIN)[2].partition(program.END)[0]
        assert written.strip().splitlines()[1:] == list(program.table())[1:]
    assert program.PICTURE.read_text(encoding="utf-8") == program.draw(program.read())


@pytest.mark.nightly
@published.needs_published_runs
def test_the_file_is_what_a_new_measurement_gives(sensitivity, figures):
    program = tool("normalised")
    for profile, recorded in (("leaderboard", figures), ("normalised", sensitivity.read(program.DAMAGE))):
        measured = sensitivity.measure(published.FOLDER, profile)
        assert {(row["damage"], row["metric"]): row for row in measured} == recorded
    runs = program.measure(published.FOLDER)
    assert {run: {profile: float(score) for profile, score in scores.items()} for run, scores in runs.items()} == (
        program.read()
    )


@pytest.fixture(scope="module")
def shapes():
    return tool("reward_shapes")


def test_the_guide_to_rewards_has_the_figures_of_the_file(shapes):
    page, rows = shapes.PAGE.read_text(encoding="utf-8"), shapes.read(shapes.FIGURES)
    written = page.partition(shapes.BEGIN)[2].partition(shapes.END)[0]
    assert written.strip() == "\n".join(shapes.table(rows)).strip()
    for (answers, reward, damage), row in rows.items():
        if reward.endswith("recommended") and damage in ("newline", "punctuation", "width") and row["d"]:
            assert abs(float(row["mean_drop"])) <= 0.01, (answers, reward, damage)
        elif reward == "recommended" and row["d"]:
            assert float(row["d"]) >= 0.8, (answers, damage)


@pytest.mark.slow
def test_the_file_has_the_rewards_of_the_packaged_suite(shapes):
    rows = {key: row for key, row in shapes.read(shapes.FIGURES).items() if key[0] == "mini"}
    assert {(row["answers"], row["reward"], row["damage"]): row for row in shapes.measure_mini()} == rows


@pytest.mark.nightly
@published.needs_published_runs
def test_the_file_has_the_rewards_of_published_answers(shapes):
    rows = {key: row for key, row in shapes.read(shapes.FIGURES).items() if key[0] == "gpt-4o"}
    measured = shapes.measure_published(published.FOLDER)
    assert {(row["answers"], row["reward"], row["damage"]): row for row in measured} == rows


def speed_figures():
    """The program that fills the tables, and the figures that the repository has."""
    return tool("speed_figures"), json.loads((ROOT / "bench" / "results.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", ["comparison.md", "serving.md"])
def test_a_table_of_speed_has_the_figures_of_the_bench(name):
    program, saved = speed_figures()
    page = (DOCS / name).read_text(encoding="utf-8")
    lines = list(program.TABLES[DOCS / name](saved))
    assert page.partition(program.BEGIN)[2].partition(program.END)[0].strip() == "\n".join(lines)
    assert sum(line.startswith("|") for line in lines) > 5


def test_the_comparison_has_no_figures_beside_its_table():
    program, _ = speed_figures()
    page = (DOCS / "comparison.md").read_text(encoding="utf-8")
    rest = page.partition("\n## Speed\n")[2].partition(program.BEGIN)
    assert not re.search(r"\d", re.sub(r"\]\(.*?\)", "", rest[0] + rest[2].partition(program.END)[2]))
