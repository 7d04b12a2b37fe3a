"""The command `pfgen-fast`: one file per subcommand, each only parses, calls the library and prints."""

from .app import main

__all__ = ["main"]
