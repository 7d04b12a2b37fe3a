"""Write the packaged suite `mini`: 8 original questions with two reference sets (A plain, B detailed) of 220 answers.

The suite allows trying and testing the package without the data of pfgen-bench. A raw answer is assembled from
hand-written clauses (tools/mini_suite.toml), one variant for each slot of the question's grammar; occasionally it is a
complete short answer. SHA-1 picks the variants. `pfgen-fast suite build` then selects the most representative of 1,000
raw answers for each set. The files are identical on every machine. The English questions use words as units.

    python tools/make_mini_suite.py            # write python/pfgen_fast/data/mini/
    python tools/make_mini_suite.py --check    # exit 1 if the files on disk are not what would be written
"""

import argparse
import hashlib
import json
import sys
import tempfile
from pathlib import Path

from pfgen_fast import build_suite
from pfgen_fast.base.errors import BuildError
from pfgen_fast.base.untrusted_json import read_toml
from pfgen_fast.build.build_config import read_config

DEFAULT_FOLDER = Path(__file__).resolve().parent.parent / "python" / "pfgen_fast" / "data" / "mini"
SETS = ("A", "B")
RAW_ANSWERS = 1000
ANSWERS_PER_SET = 220
BRIEF_EVERY = 25  # on average, one in this many answers is a complete short one
QUESTIONS = read_toml(Path(__file__).with_name("mini_suite.toml"), error=BuildError)["question"]


def draw(total, *key):
    """Return an integer in range(total) that depends only on the key."""
    return int(hashlib.sha1("/".join(map(str, key)).encode()).hexdigest(), 16) % total


def pick(variants, *key):
    """Pick a variant; the weights decrease with its rank: 30, 20, 15, 12, 10, 8, 7, 6, ..."""
    ranks = [rank for rank in range(len(variants)) for _ in range(60 // (rank + 2))]
    return variants[ranks[draw(len(ranks), *key)]]


def make_answer(grammar, *key):
    """Return one reference answer."""
    if draw(BRIEF_EVERY, *key, "is brief") == 0:
        return pick(grammar["brief"], *key, "brief")
    return "".join(pick(variants, *key, slot) for slot, variants in enumerate(grammar["slots"]))


def make_raw(folder):
    """Write raw answers to all questions, one file for each reference set."""
    for name in SETS:
        with (folder / f"{name}.jsonl").open("w", encoding="utf-8") as file:
            for number, content in enumerate(QUESTIONS, start=1):
                for row in range(RAW_ANSWERS):
                    answer = make_answer(content["sets"][name], f"Q{number:02}", name, row)
                    line = {"question": content["question"], "answer": answer}
                    file.write(json.dumps(line, ensure_ascii=False) + "\n")


def make_config(folder):
    """Write the config of the build and return its path."""
    lines = ['suite = "mini"', 'seed = "mini"', "[sets]", *(f'{name} = "{name}.jsonl"' for name in SETS)]
    lines += [
        "[score]",
        "target = 100",
        "limit = 150",
        "[frequency]",
        "order = 5",
        "[length]",
        'keep = "all"',
        "[select]",
        f"size = {ANSWERS_PER_SET}",
    ]
    for content in QUESTIONS:
        lines.append("[[question]]")
        lines += [f"{key} = {toml(value)}" for key, value in content.items() if key != "sets"]
    path = folder / "mini.toml"
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def toml(value):
    """Return a JSON value as inline TOML."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {toml(part)}" for key, part in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def make_files():
    """Return the suite as {file name: bytes}."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_raw(folder)
        built = build_suite(read_config(make_config(folder)))
        for problem in built.problems:
            raise SystemExit(problem)
        return {path.name: path.read_bytes() for path in (folder / "mini").iterdir()}


def differing_files(folder, files):
    """Return the names of files that are missing or different, and of unexpected question files."""
    stray = {path.name for path in folder.glob("Q*.json")} - files.keys()
    changed = {
        name for name, data in files.items() if not (folder / name).is_file() or (folder / name).read_bytes() != data
    }
    return sorted(stray | changed)


def main():
    parser = argparse.ArgumentParser(description="Write the packaged suite `mini`.")
    parser.add_argument("folder", nargs="?", type=Path, default=DEFAULT_FOLDER, help="where to write")
    parser.add_argument("--check", action="store_true", help="compare with the files on disk instead of writing")
    args = parser.parse_args()

    files = make_files()
    if args.check:
        differing = differing_files(args.folder, files)
        for name in differing:
            print(f"differs: {args.folder / name}", file=sys.stderr)
        return 1 if differing else 0

    args.folder.mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        (args.folder / name).write_bytes(data)
    return 0


if __name__ == "__main__":
    sys.exit(main())
