"""Reports: a self-contained page for many runs, in a file or a folder, and a README.md for each run."""

from .checked import ReportRun
from .html import write_report, write_report_folder
from .markdown import write_readme

__all__ = ["ReportRun", "write_readme", "write_report", "write_report_folder"]
