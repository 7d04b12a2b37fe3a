"""The report of checklists: what models scored, and every answer beside its verdicts and reasons."""

from .writing import write_checklists

__all__ = ["write_checklists"]
