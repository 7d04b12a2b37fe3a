"""How the reference reads docstrings: our section `Example:` is the one that its parser knows as `Examples:`."""

from __future__ import annotations

import re
from typing import Any

import griffe


class Examples(griffe.Extension):
    """Renames the section before a docstring is parsed."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Is called with each module, class, function and attribute."""
        if obj.docstring is not None:
            obj.docstring.value = re.sub(r"^Example:$", "Examples:", obj.docstring.value, flags=re.MULTILINE)
