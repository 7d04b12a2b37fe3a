"""The native core; if it cannot be imported, the error says how to build it."""

import sys
from importlib import import_module


def _is_main_interpreter() -> bool:
    """Whether this is not a sub-interpreter; there, the import of the core would hang."""
    try:
        interpreters = import_module("_interpreters" if sys.version_info >= (3, 13) else "_xxsubinterpreters")
    except ImportError:
        return True
    return bool(interpreters.get_current() == interpreters.get_main())


if not _is_main_interpreter():
    raise ImportError("pfgen_fast works only in the main interpreter: use threads or processes")

try:
    from .. import _core
except ImportError as error:
    raise ImportError(
        f"the native core of pfgen_fast is missing or does not load ({error}). Build it with 'pip install .' in a "
        "checkout of pfgen-fast (this needs a C++20 compiler; cmake and ninja are fetched by pip), or reinstall the "
        "package: 'pip install --force-reinstall pfgen-fast'."
    ) from error

__all__ = ["_core"]
