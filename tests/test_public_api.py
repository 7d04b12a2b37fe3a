"""The public API changes only deliberately: names, signatures and options are those of tests/public_api.txt."""

from __future__ import annotations

import difflib
import importlib

import pfgen_fast
from makers.public_api import RECORD, public_api


def test_the_public_api_is_the_recorded_one():
    recorded = RECORD.read_text(encoding="utf-8").splitlines()
    compared = difflib.unified_diff(recorded, public_api(), lineterm="", n=0)
    changes = [line for line in compared if line[0] in "+-" and line[:3] not in ("+++", "---")]
    advice = "If that is meant, run `python tests/makers/public_api.py` and say it in CHANGELOG.md (docs/stability.md)."
    assert not changes, "\n".join(["the public API differs from tests/public_api.txt:", *changes, advice])


def test_the_record_has_every_name_of_the_package():
    recorded = set(RECORD.read_text(encoding="utf-8").replace("(", " ").split())
    assert set(pfgen_fast.__all__) - {"__version__"} <= recorded


def test_what_is_recorded_can_be_imported():
    lines = [line for line in RECORD.read_text(encoding="utf-8").splitlines() if line.startswith(("class ", "def "))]
    paths = [line.split(" ", 1)[1].split("(")[0] for line in lines]
    paths = [path for path in paths if path.split(".")[0] not in ("integrations", "distributed", "serving")]
    for path in paths:
        module, _, name = f"pfgen_fast.{path}".rpartition(".")
        assert getattr(importlib.import_module(module), name) is not None
    assert len(paths) > 100
