"""The parts of a shape: literals, the core's counts against plain counting, and faulty settings."""

import dataclasses
import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from makers.effort import examples, share
from pfgen_fast.base.errors import PfgenError, RewardError
from pfgen_fast.base.native import _core
from pfgen_fast.rewards.group_parts import Diversity, GroupRelative
from pfgen_fast.rewards.parts import Clip, Copying, Floor, Overlong, Repetition, Scale, TooShort, Unfinished
from pfgen_fast.rewards.reward import PARTS, RECOMMENDED, Shape, shape_of
from pfgen_fast.scoring.normalisation import normalised

TEXTS = st.one_of(
    st.text("ab", max_size=40),
    st.text("ab\u3042\U0001f363\ud800\u3002\u3314 .1", max_size=30),
    st.builds(lambda text, n: text * n, st.text("abc ", max_size=6), st.integers(0, 8)),
)


def repeated(text: str, n: int) -> float:
    windows = [text[i : i + n] for i in range(len(text) - n + 1)]
    return 1.0 - len(set(windows)) / len(windows) if windows else 0.0


def copied(text: str, sources: list[str], n: int) -> float:
    most = 0
    for source in sources:
        places = {i + k for i in range(len(text) - n + 1) if text[i : i + n] in source for k in range(n)}
        most = max(most, len(places))
    return most / len(text) if text else 0.0


def column(texts, *, nulls=False):
    return _core.TextColumn(texts, "answers", nulls)


def test_the_core_counts_as_plain_python_does():
    reached = Counter()

    @examples(300)
    @given(st.lists(TEXTS, min_size=1, max_size=70), st.integers(1, 12), st.integers(1, 4), st.integers(1, 40))
    def check(texts, n, n_threads, limit):
        actual = _core.repeated_shares(column(texts), n, n_threads)
        expected = [repeated(text, n) for text in texts]
        reached["repeats"] += any(value > 0.3 for value in expected)
        assert actual.tolist() == expected
        assert _core.count_code_points(column(texts), n_threads).tolist() == [len(text) for text in texts]
        units = [len(normalised(text)) for text in texts]
        assert _core.count_units(column(texts), n_threads).tolist() == units
        for count, lengths in ((_core.count_code_points, map(len, texts)), (_core.count_units, units)):
            assert count(column(texts), n_threads, limit).tolist() == [min(length, limit) for length in lengths]

    check()
    assert reached["repeats"] >= share(30, at_least=1)


def test_copies_are_found_as_by_a_search_in_each_text():
    reached = Counter()

    @examples(300)
    @given(
        st.lists(st.lists(TEXTS, max_size=5), min_size=1, max_size=5), st.data(), st.integers(1, 6), st.integers(1, 3)
    )
    def check(groups, data, n, n_threads):
        rows = data.draw(st.lists(st.integers(0, len(groups) - 1), min_size=1, max_size=12))
        pieces = st.sampled_from(["b", "", *(text for group in groups for text in group)])
        answers = [data.draw(st.builds(lambda *parts: "".join(parts), TEXTS, pieces, TEXTS)) for _ in rows]
        ends = np.cumsum([len(group) for group in groups])
        sources = _core.CopySources(column([text for group in groups for text in group]), ends, n)
        expected = [copied(answer, groups[row], n) for answer, row in zip(answers, rows, strict=True)]
        reached["some"] += any(0 < value < 1 for value in expected)
        for _ in range(2):  # with groups that are prepared, too
            assert sources.copied_shares(column(answers), np.array(rows, np.int32), n_threads).tolist() == expected

    check()
    assert reached["some"] >= share(50, at_least=1)


@pytest.mark.parametrize("tail", ["a", "\u3042", "\U0001f363"])
def test_windows_of_a_long_answer_are_those_of_its_ends(tail):
    pyarrow = pytest.importorskip("pyarrow")
    random = np.random.default_rng(3)
    head, middle, end = ("".join(random.choice([*"abcd", tail], n)) for n in (10_000, 50_000, 9_999))
    ends, answer = f"{head}{tail}{end}", f"{head}{middle}{tail}{end}"
    assert Repetition(8, 0)([answer]) == Repetition(8, 0)([ends]) != Repetition(8, 0)([middle])
    assert Repetition(8, 0)(pyarrow.array([answer])) == Repetition(8, 0)([ends])  # in UTF-8
    assert Copying(99, 0)([answer], [end]).tolist() == [pytest.approx(10_001 / 20_000)]


def test_a_missing_text_has_nan_and_wrong_groups_are_refused():
    assert math.isnan(_core.repeated_shares(column(["a", None], nulls=True), 1, 1)[1])
    sources = _core.CopySources(column(["abc"]), np.array([1]), 2)
    for groups in ([1], [-1], [0, 0]):
        with pytest.raises(_core.BadColumn):
            sources.copied_shares(column(["abc"]), np.array(groups, np.int32), 1)
    with pytest.raises(ValueError, match="ascend"):
        _core.CopySources(column(["abc"]), np.array([2]), 2)


def test_factors_fall_linearly():
    assert Overlong(100, 200)([0, 100, 125, 200, 1e9]).tolist() == [1, 1, 0.75, 0, 0]
    assert Overlong(100, 200, minus=True)([100, 125, 300]).tolist() == [0, -0.25, -1]
    assert TooShort(100, 60)([150, 100, 70, 60, 0]).tolist() == [1, 1, 0.25, 0, 0]
    assert Repetition(2, 0.5)(["abcd", "aaaaa", "ab", ""]).tolist() == [1, 0.5, 1, 1]
    assert Repetition(2, 0.25, 0.75)(["aaaaa", "abcabc"]).tolist() == [0, 1 - (0.4 - 0.25) / 0.5]
    assert Copying(4, 0.5)(["abcdxx", "abcdef", "xyz"], ["abcdefgh"] * 3).tolist() == pytest.approx([2 / 3, 0, 1])
    from_references = Copying(3, 0.0, source="references")
    assert from_references(["abcdef"], [["abcx", "defx"]]).tolist() == [0.5]  # of one reference, not of both together
    assert from_references(["abcdef"], [["abcdef"]]).tolist() == [0]
    assert Unfinished(0.25)([True, False]).tolist() == [1, 0.25]
    assert Floor(0.2)([0.1, 0.3]).tolist() == [0.2, 0.3]
    assert Clip(0, 1)([-1, 0.5, 2]).tolist() == [0, 0.5, 1]
    assert Scale()([0.2], [0.4]).tolist() == [0.5]


@pytest.mark.parametrize(
    ("part", "settings", "sentence"),
    [
        (Overlong, (200, 100), "overlong: soft 200 and hard 100: expected soft below hard"),
        (Overlong, (100, 100), "expected soft below hard"),
        (Overlong, (math.nan, 100), "overlong: soft: expected a number from 0 on, not nan"),
        (Overlong, (0, math.inf), "overlong: hard: expected a number from 0 on, not inf"),
        (Overlong, ("1", 2), "overlong: soft: expected a number from 0 on, not"),
        (Overlong, (True, 2), "overlong: soft: expected a number"),
        (Overlong, (1, 2, "token"), "overlong: unknown unit 'token'; .*did you mean 'tokens'"),
        (Overlong, (1, 2, "tokens", 1), "overlong: minus: expected true or false"),
        (TooShort, (100, 200), "too_short: hard 200 and soft 100: expected hard below soft"),
        (Repetition, (0, 0.5), "repetition: n: expected an integer from 1 to 1,000,000, not 0"),
        (Repetition, (2.0, 0.5), "repetition: n: expected an integer"),
        (Repetition, (2, 1.5), "repetition: from_share: expected a number from 0 to 1, not 1.5"),
        (Repetition, (2, 0.5, 0.5), "repetition: from_share 0.5 and hard 0.5: expected from_share below hard"),
        (Copying, (0, 0.5), "copying: run: expected an integer"),
        (Copying, (9, 0.5, 1, "prompt"), "copying: unknown source 'prompt'; .*did you mean 'prompts'"),
        (Unfinished, (-1,), "unfinished: value: expected a number from 0 to 1, not -1"),
        (Floor, (math.nan,), "floor: value: expected a number, not nan"),
        (Clip, (1, 0), "clip: low 1 and high 0: expected low below high"),
        (Scale, ("reference",), "scale: unknown to 'reference'"),
        (GroupRelative, ("zscore",), "group_relative: unknown how 'zscore'; .*did you mean 'z_score'"),
        (Diversity, (3, 0.1, 0.2), "diversity: hard 0.2 and soft 0.1: expected hard below soft"),
    ],
)
def test_faulty_settings_are_one_sentence(part, settings, sentence):
    with pytest.raises(RewardError, match=sentence):
        part(*settings)


def test_parts_are_small_values():
    assert {part.name for part in PARTS.values()} == set(PARTS)
    for part in (Overlong(1, 2), Scale(), Copying(3, 0.2)):
        assert part == dataclasses.replace(part)
        assert hash(part) == hash(dataclasses.replace(part))


# ---- Shapes in lists, in files, by name


FILE = """
[[shape]]
part = "overlong"
soft = 1.5
hard = 3
unit = "references"

[[shape]]
part = "copying"
run = 20
from_share = 0.5

[[shape]]
part = "copying"
run = 20
from_share = 0.5
source = "references"

[[shape]]
part = "scale"
"""
SHAPE = (Overlong(1.5, 3, "references"), Copying(20, 0.5), Copying(20, 0.5, source="references"), Scale())


def test_a_shape_has_its_parts_in_their_order(tmp_path):
    path = tmp_path / "shape.toml"
    path.write_text(FILE, encoding="utf-8")
    assert shape_of(path) == shape_of(str(path)) == shape_of(SHAPE) == shape_of(list(SHAPE)) == Shape(SHAPE)
    assert shape_of("recommended") == shape_of(RECOMMENDED) == RECOMMENDED
    assert shape_of(None) == shape_of([]) == Shape()
    assert shape_of(Scale()) == Shape((Scale(),))
    assert shape_of([{"part": "repetition", "n": 3, "from_share": 0}]) == Shape((Repetition(3, 0),))
    path.write_text(f"profile = 'normalised'\n{FILE}", encoding="utf-8")
    assert shape_of(path) == Shape(SHAPE, "normalised")


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("", r"expected a table \[\[shape\]\] for each part"),
        ("[shape]\npart = 'scale'", r"expected a table \[\[shape\]\] for each part"),
        ("[[shapes]]\npart = 'scale'", "unknown key 'shapes'; .*did you mean 'shape'"),
        ("[[shape]]\nsoft = 1", r"shape\[0\]: the key part is missing"),
        ("[[shape]]\npart = 'overlang'", r"shape\[0\]: unknown part 'overlang'; .*did you mean 'overlong'"),
        ("[[shape]]\npart = 'overlong'\nsoft = 1\nhart = 2", r"shape\[0\]: overlong: unknown key 'hart'; .*hard"),
        ("[[shape]]\npart = 'overlong'\nsoft = 1", r"shape\[0\]: overlong: the key hard is missing"),
        ("[[shape]]\npart = 'overlong'\nsoft = 3\nhard = 2", r"shape\[0\]: overlong: soft 3 and hard 2"),
        ("shape = 1", r"expected a table"),
        ("profile = 'normalized'\n[[shape]]\npart = 'scale'", "unknown profile 'normalized'; .*mean 'normalised'"),
        ("profile = 'paper'", r"expected a table \[\[shape\]\] for each part"),
        ("[[shape]", "not TOML"),
    ],
)
def test_a_faulty_file_is_one_sentence_with_its_place(tmp_path, content, sentence):
    path = tmp_path / "shape.toml"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(RewardError, match=rf"shape\.toml: .*{sentence}") as caught:
        shape_of(path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("shape", "sentence"),
    [
        ("recomended", "shape: expected 'recommended' or a file that ends with .toml, not 'recomended'"),
        ("none.toml", "none.toml: cannot be read: No such file"),
        (3, "shape: expected parts, 'recommended' or a TOML file, not 3"),
        ({"part": "scale"}, "shape: expected parts"),
        ([3], r"shape\[0\]: expected a part such as"),
    ],
)
def test_a_value_that_is_no_shape_is_one_sentence(shape, sentence):
    with pytest.raises(PfgenError, match=sentence):
        shape_of(shape)
