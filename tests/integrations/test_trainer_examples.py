"""The programs of examples/trainers, each with the real package where it is installed."""

import os
import subprocess
import sys

import pytest
from makers.documented import ROOT
from makers.engines import integration

FOLDER = ROOT / "examples" / "trainers"


@pytest.mark.integrations
@pytest.mark.parametrize(
    ("name", "packages", "expected"),
    [
        ("trl", ["trl"], "]"), ("verl", ["verl", "tensordict"], "'truthfulness': ["), ("openrlhf", ["torch"], "[0.6"),
        ("skyrl", ["skyrl_gym", "transformers"], "'fluency': "), ("slime", [], "Q08 [0."),
    ],
)  # fmt: skip
def test_an_example_runs(name, packages, expected, tiny_model, tmp_path):
    for package in packages:
        integration(package)
    command = [
        sys.executable,
        str(FOLDER / f"with_{name}.py"),
        *([] if name in ("openrlhf", "slime") else [str(tiny_model)]),
    ]
    run = subprocess.run(command, cwd=tmp_path, env={**os.environ, "CUDA_VISIBLE_DEVICES": ""}, capture_output=True)
    assert run.returncode == 0, run.stderr.decode()
    assert expected in run.stdout.decode().splitlines()[-1]


def test_an_example_fits_on_a_screen():
    files = sorted(FOLDER.glob("*.py"))
    assert len(files) >= 7
    assert not [file.name for file in files if len(file.read_text(encoding="utf-8").splitlines()) > 40]
