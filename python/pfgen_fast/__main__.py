"""`python -m pfgen_fast` is the command `pfgen-fast`."""

from .cli import main

if __name__ == "__main__":
    main()
