"""Makes a virtual environment, or says in one sentence what this machine lacks for it. Needs no package.

Older Pythons run this file to the sentence that names their version, so its syntax is Python 2's.
"""

import os
import shutil
import subprocess
import sys

OLDEST = (3, 10)


def fault():
    """The missing requirement, or None."""
    if sys.version_info < OLDEST:
        return (
            "Python %d.%d or newer is needed, and %s is Python %d.%d: name another with 'make PYTHON=python3.12 ...'"
            % (OLDEST + (sys.executable,) + sys.version_info[:2])
        )
    try:
        import ensurepip  # noqa: F401 (Debian leaves it out of Python's own package)
        import venv  # noqa: F401
    except ImportError as error:
        return "%s has no module %s: install it, for example with 'apt-get install python3-venv'" % (
            sys.executable,
            error.name,
        )
    return None


def main(folder):
    """Makes the environment; removes it if that fails."""
    reason = fault()
    if reason is None:
        print("making the environment %s" % folder)
        shutil.rmtree(folder, ignore_errors=True)
        process = subprocess.Popen(
            [sys.executable, "-m", "venv", folder], stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        message = process.communicate()[0].decode("utf-8", "replace").strip()
        if process.returncode == 0:
            return None
        shutil.rmtree(folder, ignore_errors=True)
        reason = "the environment %s was not made: %s" % (os.path.abspath(folder), message.split("\n")[-1])
    return reason


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
