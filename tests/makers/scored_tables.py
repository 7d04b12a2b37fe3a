"""Tables in all formats, and their scored copies."""

import csv
import gzip
import io
import json
import lzma
from pathlib import Path

import pyarrow
import pyarrow.parquet
import zstandard
from pfgen_fast.tables.streaming import score_table
from pfgen_fast.tables.table_job import TableJob

QUESTIONS = ["Q07", "Q08", "Q07", "Q01", "Q07"]
ANSWERS = [
    "Ice floats because it is less dense than water.",
    'a, "quoted" answer\r\nof two lines',
    "",
    "氷は水に浮きます𠮷。",
    "x" * 200,
]
NOTES = ["", " leading", "naïve\n", "null", "007"]
ROWS = [{"note": n, "q": q, "a": a} for n, q, a in zip(NOTES, QUESTIONS, ANSWERS, strict=True)]
SCORES = (
    *("fluency", "truthfulness", "helpfulness", "average"),
    *("fluency_A", "fluency_B", "truthfulness_A", "truthfulness_B"),
)
FORMATS = [".parquet", ".jsonl", ".csv", ".tsv", ".json"]


def pack(path: Path, content: bytes) -> bytes:
    packers = {".gz": gzip.compress, ".xz": lzma.compress, ".zst": zstandard.ZstdCompressor().compress}
    return packers.get(path.suffix, bytes)(content)


def unpack(path: Path) -> bytes:
    openers = {".gz": gzip.open, ".xz": lzma.open, ".zst": zstandard.open}
    with openers.get(path.suffix, open)(path, "rb") as file:
        return file.read()


def write_table(path: Path, rows: list[dict]) -> Path:
    if path.suffix == ".parquet":
        names = ("note", "q", "a")
        columns = {name: pyarrow.array([row[name] for row in rows], pyarrow.string()) for name in names}
        pyarrow.parquet.write_table(pyarrow.table(columns), path)
    elif ".jsonl" in path.name:
        path.write_bytes(pack(path, b"".join(json.dumps(row).encode() + b"\n" for row in rows)))
    elif ".json" in path.name:
        path.write_bytes(pack(path, json.dumps(rows, indent=1).encode()))
    else:
        text = io.StringIO(newline="")
        writer = csv.DictWriter(text, ["note", "q", "a"], delimiter=delimiter_of(path))
        writer.writeheader()
        writer.writerows(rows)
        path.write_bytes(pack(path, text.getvalue().encode()))
    return path


def delimiter_of(path: Path) -> str:
    return "\t" if ".tsv" in path.name else ","


def read_table(path: Path) -> list[dict]:
    if path.suffix == ".parquet":
        return pyarrow.parquet.read_table(path).to_pylist()
    if ".jsonl" in path.name:
        return [json.loads(line) for line in unpack(path).splitlines()]
    if ".json" in path.name:
        return json.loads(unpack(path))
    text = io.StringIO(unpack(path).decode(), newline="")
    rows = list(csv.DictReader(text, delimiter=delimiter_of(path), strict=True))
    return [{name: number_or_null(row[name]) if name in SCORES else row[name] for name in row} for row in rows]


def number_or_null(text: str) -> float | None:
    return float(text) if text else None


def score(source, target, scorer, *, batch_size=None, on_batch=None, **options):
    job = TableJob(scorer, **{"question_column": "q", "answer_column": "a", **options})
    return score_table(source, target, job, batch_size=batch_size, on_batch=on_batch).n_rows


def score_content(scorer, folder: Path, content: bytes | str, names: str = "in.csv out.csv", **options) -> bytes:
    """Scores a file with this content, and returns the content of the other file."""
    source, target = map(folder.joinpath, names.split())
    source.write_bytes(content if isinstance(content, bytes) else content.encode())
    score(source, target, scorer, **options)
    return target.read_bytes()


def score_lines(scorer, folder: Path, lines: bytes | str, target: str = "out.jsonl", **options) -> str:
    """The output of JSON lines; escapes where it is not text."""
    return score_content(scorer, folder, lines, f"in.jsonl {target}", **options).decode(errors="backslashreplace")
