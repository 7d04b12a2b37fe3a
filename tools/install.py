"""Installs into the environment of the Python that runs it, and shows how far it is: this checkout, or packages.

    python tools/install.py                            # compiles and installs this checkout
    python tools/install.py --group test               # a dependency group of pyproject.toml
    python tools/install.py --no-deps "verl>=0.9"      # other packages

The build tools are installed first and stay there, so that the next call compiles only what has changed: an isolated
build would bring its own tools, in another directory each time, and compile everything again. Packages are installed by
uv, which takes a tenth of pip's time and gets pip's settings, and by pip where uv cannot. Needs no package.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
BUILD_TOOLS = ("scikit-build-core>=0.10", "pybind11>=2.13", "cmake>=3.20", "ninja>=1.11")
PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--retries", "2", "install")
HEADERS = ROOT / "build" / "python-headers"
COMPILERS = ("c++", "g++", "clang++")  # in CMake's order

_COMPILED = re.compile(r"^\s*\[(\d+)/(\d+)\] ")
_SHOWN_ON_FAILURE = 60
_REASONS = {
    "No space left on device|Disk quota exceeded": "the disk is full: README.md says how much space is needed",
    "NewConnectionError|NameResolutionError|ConnectTimeoutError|ProxyError|Network is unreachable|dns error": (
        "the package index was not reached: check the network, or name a mirror: pip config set global.index-url URL"
    ),
}
_PROGRAM = """
#include <charconv>
#include <span>
int main() { char text[32]; return std::to_chars(text, text + 32, 0.5).ptr == text; }
"""


class Failed(Exception):
    """A step failed; the message has the end of its output."""


def run(what: str, command: Sequence[str | Path], env: Mapping[str, str] | None = None) -> None:
    """Runs a command and shows one line: what it does, how far it is (on a terminal), and how long it took.

    The line must fit a terminal of 80 columns, or else it would not be overwritten.

    Raises:
        Failed: The command fails.
    """
    begin = time.monotonic()
    is_terminal = sys.stdout.isatty()
    print(what, end="" if is_terminal else "\n", flush=True)
    message: deque[str] = deque(maxlen=_SHOWN_ON_FAILURE)
    with subprocess.Popen(
        command,
        cwd=ROOT,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        errors="replace",
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            message.append(line)
            compiled = _COMPILED.match(line)
            if compiled and is_terminal:
                print(f"\r{what}: {compiled[1]} of {compiled[2]}\033[K", end="", flush=True)
    seconds = f"{time.monotonic() - begin:.0f} s"
    if process.returncode:
        print(end="\n" if is_terminal else "", flush=True)
        raise Failed("".join(message))
    print(f"\r{what}: {seconds}\033[K" if is_terminal else f"  done in {seconds}", flush=True)


def reason(message: str) -> str | None:
    """The reason why a step failed, in one sentence, if its output is known."""
    return next((sentence for pattern, sentence in _REASONS.items() if re.search(pattern, message)), None)


# --- packages


def install(what: str, requirements: Sequence[str], groups: Sequence[str] = ()) -> None:
    """Installs packages and dependency groups of this project, with uv or else with pip."""
    named = [*requirements, *(f"--group={group}" for group in groups)]
    try:
        uv = _uv()
        run(what, [uv, "pip", "install", "--python", sys.executable, *named], _uv_settings())
    except Failed as failed:
        if reason(str(failed)) == _REASONS["No space left on device|Disk quota exceeded"]:
            raise
        print("  uv failed; trying pip", flush=True)
        if groups:
            run("installing a pip that reads dependency groups", [*PIP, "pip>=25.1"])
        run(what, [*PIP, *named])


def _uv() -> Path:
    uv = Path(sys.executable).with_name("uv.exe" if os.name == "nt" else "uv")
    if not uv.exists():
        run("installing uv", [*PIP, "--only-binary", ":all:", "uv"])
    return uv


def _uv_settings() -> dict[str, str]:
    """The environment in which uv uses pip's settings."""
    listed = subprocess.run(
        [sys.executable, "-m", "pip", "config", "list"], stdout=subprocess.PIPE, text=True, check=False
    )
    settings = dict(re.findall(r"^[^.]+\.([\w-]+)='(.*)'$", listed.stdout, flags=re.MULTILINE))
    names = {
        "index-url": "UV_DEFAULT_INDEX",
        "extra-index-url": "UV_INDEX",
        "find-links": "UV_FIND_LINKS",
        "cert": "SSL_CERT_FILE",
    }
    arguments = {names[key]: value.replace("\\n", " ") for key, value in settings.items() if key in names}
    usual = {"UV_INDEX_STRATEGY": "unsafe-best-match", "UV_LINK_MODE": os.environ.get("UV_LINK_MODE", "hardlink")}
    return {**usual, **arguments, **os.environ}


# --- this checkout


def install_checkout() -> None:
    """Installs build tools, dependencies and the package; compiles what has changed."""
    python_headers = _check_compiler()
    install("1/2 installing build tools", BUILD_TOOLS)
    env = dict(os.environ)
    if python_headers:
        include = python_headers / f"python3.{sys.version_info.minor}"
        env["CMAKE_ARGS"] = f"{env.get('CMAKE_ARGS', '')} -DPython_INCLUDE_DIR={include}"
        env["CPLUS_INCLUDE_PATH"] = os.pathsep.join(
            [str(include), str(python_headers)]
        )  # pyconfig.h is below the latter
    command = [*PIP, "--verbose", "--no-build-isolation", "."]
    run("2/2 installing pfgen-fast (compiling takes a minute)", command, env)


def _check_compiler() -> Path | None:
    """Checks compiler and headers; returns the directory of Python's headers if they are not in the usual place."""
    if os.name == "nt":
        return None  # CMake finds Microsoft's compiler where PATH does not have it
    named = os.environ.get("CXX", "").split()
    compiler = named or [result for result in map(shutil.which, COMPILERS) if result][:1]
    if not compiler:
        sys.exit("a C++20 compiler is needed and none was found: install one, for example with 'apt-get install g++'")
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "check.cpp")
        source.write_text(_PROGRAM, encoding="utf-8")
        command = [*compiler, "-std=c++20", source, "-o", source.with_suffix("")]
        try:
            tried = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
        except OSError as error:
            sys.exit(f"the C++ compiler {compiler[0]} cannot be started: {error.strerror}")
        if tried.returncode:
            message = next((line for line in tried.stderr.split("\n") if "error" in line), "no error named").strip()
            sys.exit(f"{compiler[0]} compiles no C++20 (GCC 11, clang 14 or newer does): {message}")
    if Path(sysconfig.get_path("include"), "Python.h").is_file():
        return None
    return _fetched_headers()


def _fetched_headers() -> Path:
    """The headers of Debian's Python, from a separate package, which any user may download with apt-get."""
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    include = HEADERS / "usr" / "include"
    if (include / f"python{version}" / "Python.h").is_file():
        return include
    package = f"libpython{version}-dev"
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "lists", "partial").mkdir(parents=True)
        own = ["-o", f"Dir::State::lists={folder}/lists", "-o", f"Dir::Cache={folder}", "-o", "Debug::NoLocking=1"]
        for command in (
            ["apt-get", "download", package],
            ["apt-get", *own, "update"],
            ["apt-get", *own, "download", package],
        ):
            if shutil.which("apt-get"):
                subprocess.run(command, cwd=folder, capture_output=True, check=False)
            if result := list(Path(folder).glob("*.deb")):
                shutil.rmtree(HEADERS, ignore_errors=True)
                HEADERS.mkdir(parents=True)
                subprocess.run(["dpkg-deb", "-x", result[0], HEADERS], check=True)
                print(
                    f"  {package} was unpacked into {HEADERS.relative_to(ROOT)}, because Python.h was missing",
                    flush=True,
                )
                return include
    sys.exit(f"Python.h of Python {version} is missing: install it, for example with 'apt-get install python3-dev'")


def main() -> None:
    """Installs the packages and groups of the arguments."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("requirements", nargs="*", help="packages, as pip takes them")
    parser.add_argument("--group", action="append", default=[], help="a dependency group of pyproject.toml")
    parser.add_argument("--no-deps", action="store_true", help="do not install what the packages ask for")
    chosen = parser.parse_args()
    try:
        if not (chosen.requirements or chosen.group):
            install_checkout()
        else:
            named = ", ".join([*chosen.group, *chosen.requirements])
            options = ["--no-deps"] if chosen.no_deps else []
            install(f"installing packages: {named[:50]}", [*options, *chosen.requirements], chosen.group)
    except Failed as failed:
        sys.exit(reason(str(failed)) or f"{failed}\nthe installation failed; above is what it said last")


if __name__ == "__main__":
    main()
