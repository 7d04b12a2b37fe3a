"""The report of checklists: what models scored, and every answer next to its verdicts and reasons."""

from .checklists_writing import write_checklists

__all__ = ["write_checklists"]
