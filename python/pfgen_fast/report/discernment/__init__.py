"""The report of a test of evaluators: words first, then pictures, examples and tables, made of a `Discernment`."""

from .discernment_writing import finding_of, write_discernment

__all__ = ["finding_of", "write_discernment"]
