"""The report of a test of evaluators: words first, then pictures, examples and tables, made of a `Discernment`."""

from .writing import write_discernment

__all__ = ["write_discernment"]
