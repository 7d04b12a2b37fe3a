"""A build that is killed just before any of its changes leaves whole files; run again, it ends in the same bytes."""

from __future__ import annotations

from collections import Counter
from pathlib import PurePosixPath

import pytest
from makers.builds import write_config, write_raw
from makers.runs import files_below
from makers.kills import build_by_config, is_hidden, killed_everywhere
from pfgen_fast.build.build_config import read_config
from pfgen_fast import build_suite

SMALL = """
[frequency]
order = 2
[length]
target = 80
keep = 30
[select]
size = 10
max_order = 2
"""


EVERYWHERE = None
at_how_many_changes = pytest.mark.parametrize("most", [3, pytest.param(EVERYWHERE, marks=pytest.mark.nightly)])


@pytest.fixture
def before(tmp_path, mini):
    """A folder with raw answers and the config of a build."""
    folder = tmp_path / "before"
    folder.mkdir()
    write_raw(folder / "raw.jsonl", mini, 60)
    write_config(folder, mini, tables=SMALL)
    return folder


@pytest.mark.slow
@at_how_many_changes
def test_a_build_killed_before_any_change_goes_on_to_the_same_bytes(tmp_path_factory, before, most):
    whole, attempts = killed_everywhere(tmp_path_factory.mktemp("attempts"), build_by_config, before=before, most=most)
    assert len([path for path in whole if path.startswith("made/")]) == 2
    for attempt in attempts:
        assert attempt.again == whole, attempt.point
        visible = {path: content for path, content in attempt.killed.items() if not is_hidden(path)}
        assert visible.items() <= whole.items(), attempt.point
    if most:
        assert len(attempts) == most
        return
    # Every file of every stage was once the next to appear; the suite appears as a whole.
    named = Counter(attempt.point.removeprefix("os.link ") for attempt in attempts if "os.link" in attempt.point)
    assert named == Counter(PurePosixPath(path).name for path in whole.keys() - files_below(before).keys())
    assert [attempt.point for attempt in attempts if "os.rename" in attempt.point] == ["os.rename made"]


@pytest.mark.slow
@at_how_many_changes
def test_a_build_that_replaces_a_suite_leaves_the_old_or_the_new_one(tmp_path_factory, before, mini, most):
    build_suite(before / "config.toml")
    write_config(before, mini, tables=SMALL.replace("target = 80", "target = 60"))
    old = files_below(before)
    whole, attempts = killed_everywhere(tmp_path_factory.mktemp("attempts"), build_by_config, before=before, most=most)
    assert whole.keys() == old.keys()
    in_suite = [path for path in whole if path.startswith("made/")]
    assert all(whole[path] != old[path] for path in in_suite)
    found = Counter()
    for attempt in attempts:
        assert attempt.again == whole, attempt.point
        for path, content in attempt.killed.items():
            assert is_hidden(path) or content in (old[path], whole[path]), (attempt.point, path)
        suite = [attempt.killed.get(path) for path in in_suite]
        kept_aside = [attempt.killed.get(path.replace("made/", ".made.old/")) for path in in_suite]
        versions = {"old": [old[path] for path in in_suite], "new": [whole[path] for path in in_suite]}
        if not any(suite):  # between the two renames
            assert kept_aside == versions["old"]
            found["set aside"] += 1
        else:
            found[next(name for name, version in versions.items() if suite == version)] += 1
    if most:
        assert found.total() == most
        return
    assert found["set aside"] == 1
    assert min(found["old"], found["new"]) > 1
