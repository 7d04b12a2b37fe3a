"""The command `pfgen-fast`: one file per subcommand, each only parses, calls the library and prints."""

import atexit
import gc


def main() -> None:
    """Runs the command."""
    # Python would look for cycles again and again while it imports, and at the end once more in all that is left, which
    # together takes as long as scoring thousands of answers.
    gc.set_threshold(100_000)
    atexit.register(gc.freeze)
    from . import app

    app.main()
