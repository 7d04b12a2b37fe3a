"""What happens to tests of pages where there is no browser."""

from __future__ import annotations

import importlib
import shutil

import pytest
from makers.browser import open_browser


def missing(name):
    raise ImportError(name)


@pytest.mark.parametrize(
    ("module", "attribute", "nothing", "reason"),
    [
        (shutil, "which", lambda name: None, "apt-get install chromium"),
        (importlib, "import_module", missing, r"pip install 'pfgen-fast\[browser\]'"),
    ],
)
def test_without_a_browser_its_tests_are_skipped_unless_it_is_required(monkeypatch, module, attribute, nothing, reason):
    monkeypatch.delenv("PFGEN_BROWSER_REQUIRED", raising=False)
    monkeypatch.setattr(shutil, "which", lambda name: f"/usr/bin/{name}")
    monkeypatch.setattr(module, attribute, nothing)
    with pytest.raises(pytest.skip.Exception, match=reason), open_browser():
        pass
    monkeypatch.setenv("PFGEN_BROWSER_REQUIRED", "1")
    with pytest.raises(pytest.fail.Exception, match=reason), open_browser():
        pass
