"""Adapts docstrings for the reference.

Our section `Example:` is the one that its parser knows as `Examples:`, and pages that they name become links.
"""

from __future__ import annotations

import re
from typing import Any

import griffe


class Docstrings(griffe.Extension):
    """Changes a docstring before it is parsed."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Called with each module, class, function and attribute."""
        if obj.docstring is not None:
            text = re.sub(r"^Example:$", "Examples:", obj.docstring.value, flags=re.MULTILINE)
            obj.docstring.value = re.sub(r"\bdocs/([\w/]+\.md)", r"[\1](../\1)", text)  # as seen from docs/reference/
