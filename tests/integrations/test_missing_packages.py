"""Without an optional package, the error names its extra: on import, or when the package is used."""

import sys
from importlib import import_module
from pathlib import Path

import pytest
from pfgen_fast import PfgenError, ScorerSpec
from pfgen_fast.base.errors import optional


def on_import(module):
    return None


def score_texts(module):
    module.score("question", "answer", ScorerSpec("mini"))


def score_frame(module):
    module.score(None, ScorerSpec("mini"))


@pytest.mark.parametrize(
    ("name", "package", "extra", "use"),
    [
        ("integrations.ray", "ray.data", "ray", score_frame),
        ("integrations.spark", "pyspark.sql.types", "spark", score_frame),
        ("tables.formats", "pyarrow.parquet", "tables", lambda module: module.check_value_table(Path("x.parquet"))),
        ("integrations.datatrove", "datatrove.pipeline.filters.base_filter", "datatrove", on_import),
        ("integrations.duckdb", "duckdb", "duckdb", lambda module: module.register(None, ScorerSpec("mini"))),
        ("integrations.duckdb", "pyarrow", "duckdb", lambda module: module.register(None, ScorerSpec("mini"))),
        ("integrations.inspect_ai", "inspect_ai", "inspect", on_import),
        ("integrations.lighteval", "lighteval.metrics.utils.metric_utils", "lighteval", on_import),
        ("integrations.lm_eval.task", "datasets", "lm-eval", lambda module: module.documents()),
        ("integrations.nemo_gym", "nemo_gym.base_resources_server", "nemo-gym", on_import),
        ("integrations.nemo_rl", "nemo_rl.environments.interfaces", "nemo-rl", on_import),
        ("integrations.polars", "polars", "polars", score_texts),
        ("integrations.skyrl", "skyrl_gym.envs.base_text_env", "skyrl", on_import),
        ("integrations.trl", "datasets", "trl", lambda module: module.make_dataset("mini")),
        ("integrations.verl", "pyarrow", "verl", lambda module: module.write_dataset("train.parquet", "mini")),
    ],
)
def test_without_a_package_the_error_names_its_extra(monkeypatch, name, package, extra, use):
    monkeypatch.setitem(sys.modules, package, None)
    if use is on_import:
        monkeypatch.delitem(sys.modules, f"pfgen_fast.{name}", raising=False)
    with pytest.raises(PfgenError, match=rf" needs {package.partition('.')[0]}.*pip install 'pfgen-fast\[{extra}\]'$"):
        use(import_module(f"pfgen_fast.{name}"))


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such limit")
def test_under_a_limit_of_memory_a_package_that_does_not_load_lacks_memory(monkeypatch):
    import resource

    def fail(name):
        raise ImportError("failed to map segment from shared object")

    monkeypatch.setattr("pfgen_fast.base.errors.import_module", fail)
    monkeypatch.setattr(resource, "getrlimit", lambda limit: (1 << 28, -1))
    with pytest.raises(MemoryError, match=r"^not enough memory to load pyarrow \(failed to map segment"):
        optional("pyarrow", extra="tables", needed_for="Parquet")
