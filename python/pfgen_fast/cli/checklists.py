"""`pfgen-fast checklists`: long answers judged question by question."""

from __future__ import annotations

from . import checklists_files as files
from . import checklists_metrics as metrics
from . import checklists_reliability as reliability
from . import checklists_table as tables
from . import checklists_weights as weights
from .checklists_generate import generate
from .checklists_judge import judge
from .commands import LINES, new_group

checklists = new_group(LINES["checklists"])
# In the order in which they are used: files, answers, judging, tables, and what the tables mean.
checklists.command("import-suite")(files.import_suite)
checklists.command()(files.show)
checklists.command("import")(files.import_results)
checklists.command("from-suite")(files.from_suite)
for function in (
    *(generate, judge, tables.table, tables.score, tables.report, metrics.metrics, metrics.errors),
    *(weights.fit, weights.sensitivity),
    *(reliability.agree, reliability.drift, reliability.noise, reliability.correlate),
):
    checklists.command()(function)
