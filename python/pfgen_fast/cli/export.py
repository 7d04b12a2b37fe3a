"""`pfgen-fast export`: runs in the formats of other programs."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

from typer import Option

from ..exports.about import FormatName, Level
from ..files.writing import writing_stdout
from ..suite.rules import Profile
from . import options
from .app import Quiet, counted, fail, shown, stderr


class _Export:
    """Exports runs for model cards, the Hub, other evaluation programs, and tables.

    The runs need the result.json files that 'pfgen-fast score' wrote. The answers are scored again, and a result.json
    that differs is an error. Existing files are replaced; the README.md of a model keeps everything except its earlier
    results of the same suite. Several runs are several files below a directory, or one table. Without --output, a
    single text goes to stdout.

    Examples

      pfgen-fast export result/our/model/5e1e9f4 --to model-index -o model/README.md

      pfgen-fast export result/our/model/5e1e9f4 --to eval-results --dataset our/benchmark
      -o model/.eval_results/pfgen.yaml

      pfgen-fast export result --to csv --by answer -o answers.csv

      pfgen-fast export result --to lm-eval -o lm-eval-results

      pfgen-fast export result --to every-eval-ever --organization 'Our lab' -o records
    """

    paths: options.Paths
    to: FormatName = Option(
        ...,
        help="Choose the format: model-index is the metadata of model cards; eval-results is the .eval_results files "
        "of the Hub; csv and parquet are tables of all runs.",
    )
    output: Path | None = Option(None, "-o", help="Write to this file, or below this directory.", metavar="FILE|FOLDER")
    by: Level = Option("question", help="Tables: write a row for each question or answer.")
    suite: options.SuiteOption = None
    profile: Profile = Option("leaderboard", help="Name the profile with which the runs were scored.")
    model: str | None = Option(
        None, help="Name the model as on the Hub. Default: the model in config.json.", metavar="ORG/NAME"
    )
    date: str | None = Option(
        None, help="Date the runs, in ISO 8601. Default: the date of the newest answer.", metavar="DATE"
    )
    dataset: str | None = Option(None, help="Name the benchmark's dataset on the Hub.", metavar="ORG/NAME")
    task: str = Option("default", help="eval-results: name the benchmark's task.", metavar="NAME")
    source_url: str | None = Option(None, help="Link to the source of the evaluation.", metavar="URL")
    organization: str | None = Option(
        None, help="every-eval-ever: name the organization that made the evaluation.", metavar="NAME"
    )
    relationship: Literal["first_party", "third_party", "collaborative", "other"] = Option(
        "other", help="every-eval-ever: tell how this organization relates to the model."
    )
    quiet: Quiet = False

    def __call__(self) -> None:
        if self.output is not None:
            written = self.export(self.output)
            if not self.quiet:
                of_many = f"{counted(len(written), 'file')} below {shown(self.output)}"
                stderr().print(f"{self.to}: {shown(written[0]) if len(written) == 1 else of_many}")
            return
        if self.to in ("lm-eval", "inspect", "parquet"):
            fail(f"--to {self.to} needs a file or directory (--output)")
        suffix = {"model-index": "yaml", "eval-results": "yaml", "csv": "csv"}.get(self.to, "json")
        with TemporaryDirectory() as folder:
            (written,) = [self.export(Path(folder, f"stdout.{suffix}"))]
            with writing_stdout() as file:
                file.write(written[0].read_bytes())

    def export(self, output: Path) -> list[Path]:
        """Writes the files."""
        from ..exports import About, export

        about = About(
            by=self.by,
            dataset=self.dataset,
            task=self.task,
            source_url=self.source_url,
            organization=self.organization,
            relationship=self.relationship,
        )
        return export(
            self.paths,
            output,
            to=self.to,
            suite=self.suite,
            profile=self.profile,
            model=self.model,
            date=self.date,
            about=about,
        )
