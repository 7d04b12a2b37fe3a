"""The command `pfgen-fast`: one package per group of commands; a command only parses, calls the library and prints."""

import atexit
import gc
import io
import os
import signal
import sys
import threading

from ..base.errors import lacks_memory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn


_IS_WINDOWS = os.name == "nt"


def main() -> None:
    """Runs the command line; Ctrl-C ends it with one line on stderr, even while modules are still being imported."""
    # Python's garbage collector would run many times during imports and once more at exit, which together takes as long
    # as scoring thousands of answers.
    gc.set_threshold(100_000)
    atexit.register(gc.freeze)
    _open_closed_streams()
    if _IS_WINDOWS:
        os.system("")  # lets the console interpret styles
        _write_utf8(sys.stdout, sys.stderr)
    try:
        from . import app

        app.main()
    except SystemExit as end:
        if end.code == 0:
            _leave()
        raise
    except KeyboardInterrupt:
        stopped()
    except (MemoryError, ImportError, RuntimeError, SystemError) as error:
        if not lacks_memory(error):
            raise
        sys.stderr.write(
            f"error: not enough memory ({type(error).__name__}); raise the limit of this process (ulimit -v)\n"
        )
        raise SystemExit(2) from None


def _leave() -> None:
    """Ends the process, unless threads or processes are left: Python would free each object, a tenth of a small run."""
    if threading.active_count() == 1 and "multiprocessing" not in sys.modules:
        atexit._run_exitfuncs()
        sys.stdout.flush()
        os._exit(0)


def _open_closed_streams() -> None:
    """Opens closed standard streams on the null device, because the next file would get their numbers."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            stream = open(os.devnull, mode, encoding="utf-8", errors="backslashreplace")  # noqa: SIM115
            os.set_inheritable(stream.fileno(), True)  # started programs expect these streams too
            setattr(sys, name, stream)


def _write_utf8(*streams: object) -> None:
    """Makes redirected streams UTF-8, as on other systems; Windows uses a code page for them."""
    for stream in streams:
        if isinstance(stream, io.TextIOWrapper) and "PYTHONIOENCODING" not in os.environ:
            stream.reconfigure(encoding="utf-8")


def stopped() -> "NoReturn":
    """Ends a command after Ctrl-C without a further message; another Ctrl-C kills it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.stderr.write("stopped\n")
    raise SystemExit(130)
