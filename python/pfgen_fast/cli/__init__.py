"""The command `pfgen-fast`: one file per subcommand, each only parses, calls the library and prints."""

import atexit
import gc


def main() -> None:
    """Runs the command."""
    # Python would look for cycles many times while it imports, and once more in all that is left at the end, which
    # together takes as long as scoring ten thousand answers.
    gc.set_threshold(100_000)
    atexit.register(gc.freeze)
    from . import app

    app.main()
