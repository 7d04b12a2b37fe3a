"""Reports: a self-contained page for many runs, in a file or a folder, and a README.md for each run."""

from .markdown import write_readme
from .run_page import write_report
from .safe_runs import ReportRun, read_run

__all__ = ["ReportRun", "read_run", "write_readme", "write_report"]
