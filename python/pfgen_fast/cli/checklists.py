"""`pfgen-fast checklists`: long answers judged question by question."""

from __future__ import annotations

from . import (
    checklists_files,
    checklists_generate,
    checklists_judge,
    checklists_metrics,
    checklists_reliability,
    checklists_table,
    checklists_weights,
)
from .commands import LINES, new_group

checklists = new_group(LINES["checklists"])
# In the order of a user's way: files, answers, judging, tables, what they mean.
checklists.command("import-suite")(checklists_files.import_suite)
checklists.command()(checklists_files.show)
checklists.command("import")(checklists_files.import_results)
checklists.command("from-suite")(checklists_files.from_suite)
checklists.command()(checklists_generate.generate)
checklists.command()(checklists_judge.judge)
checklists.command()(checklists_table.table)
checklists.command()(checklists_table.score)
checklists.command()(checklists_table.report)
checklists.command()(checklists_metrics.metrics)
checklists.command()(checklists_metrics.errors)
checklists.command()(checklists_weights.fit)
checklists.command()(checklists_weights.sensitivity)
checklists.command()(checklists_reliability.agree)
checklists.command()(checklists_reliability.drift)
checklists.command()(checklists_reliability.noise)
checklists.command()(checklists_reliability.correlate)
