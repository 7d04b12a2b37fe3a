"""The public API changes only deliberately: names, signatures and options are those of tests/public_api.txt."""

import difflib

from makers.public_api import RECORD, expanded, public_api


def test_the_public_api_is_the_recorded_one():
    recorded = RECORD.read_text(encoding="utf-8").splitlines()
    compared = difflib.unified_diff([*expanded(recorded)], [*expanded(public_api())], lineterm="", n=0)
    changes = [line for line in compared if line[0] in "+-" and line[:3] not in ("+++", "---")]
    advice = "If that is meant, run `python tests/makers/public_api.py` and say it in CHANGELOG.md (docs/stability.md)."
    assert not changes, "\n".join(["the public API differs from tests/public_api.txt:", *changes, advice])
