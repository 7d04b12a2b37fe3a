"""Shapes: from parts, by name and from TOML files."""

import pytest
from pfgen_fast import Copying, Overlong, Repetition, Scale
from pfgen_fast.base.errors import PfgenError, RewardError
from pfgen_fast.rewards.reward import RECOMMENDED, Shape, shape_of

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
PARTS = (Overlong(1.5, 3, "references"), Copying(20, 0.5), Copying(20, 0.5, source="references"), Scale())


def test_a_shape_has_its_parts_in_their_order(tmp_path):
    path = tmp_path / "shape.toml"
    path.write_text(FILE, encoding="utf-8")
    assert shape_of(path) == shape_of(str(path)) == shape_of(PARTS) == shape_of(list(PARTS)) == Shape(PARTS)
    assert shape_of("recommended") == shape_of(RECOMMENDED) == RECOMMENDED
    assert shape_of(None) == shape_of([]) == Shape()
    assert shape_of(Scale()) == Shape((Scale(),))
    assert shape_of([{"part": "repetition", "n": 3, "from_share": 0}]) == Shape((Repetition(3, 0),))
    path.write_text(f"profile = 'normalised'\n{FILE}", encoding="utf-8")
    assert shape_of(path) == Shape(PARTS, "normalised")


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
        (
            "profile = 'normalized'\n[[shape]]\npart = 'scale'",
            "unknown profile 'normalized'; .*did you mean 'normalised'",
        ),
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
