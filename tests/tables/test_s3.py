"""`s3://` against a server of moto on the loopback: directories in and out, a rerun, missing and denied files."""

import json
import time
from collections.abc import Iterator
from typing import Any

import pytest
from makers.engines import engine
from pfgen_fast import PfgenError
from pfgen_fast.tables.folders import score_files
from pfgen_fast.tables.table_job import TableJob

engine("s3fs")
moto_server = engine("moto.server")

pytestmark = pytest.mark.engines

ROWS = 50


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    server = moto_server.ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture
def s3(address: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A client of an empty server with the bucket `box`; s3fs finds the server by the environment."""
    import botocore.session
    import s3fs

    settings = {"ACCESS_KEY_ID": "testing", "SECRET_ACCESS_KEY": "testing", "DEFAULT_REGION": "us-east-1"}
    for name, value in {**settings, "ENDPOINT_URL": address}.items():
        monkeypatch.setenv(f"AWS_{name}", value)
    s3fs.S3FileSystem.clear_instance_cache()
    client = botocore.session.get_session().create_client("s3")
    client.create_bucket(Bucket="box")
    yield client
    for key in keys(client):
        client.delete_object(Bucket="box", Key=key)
    client.delete_bucket_policy(Bucket="box")
    s3fs.S3FileSystem.clear_instance_cache()


def keys(client: Any) -> list[str]:
    return [item["Key"] for item in client.list_objects_v2(Bucket="box").get("Contents", ())]


def put(client: Any, key: str, n_rows: int = ROWS) -> None:
    rows = [{"id": f"{key} {row}", "question": "Q07", "answer": "Ice floats."} for row in range(n_rows)]
    client.put_object(Bucket="box", Key=key, Body="".join(json.dumps(row) + "\n" for row in rows).encode())


def put_some(client: Any) -> list[str]:
    names = [f"day={number}/x.jsonl" for number in range(4)]
    for name in names:
        put(client, f"in/{name}")
    return names


def rows_out(client: Any) -> list[str]:
    """The ids of all rows that a reader of the output folder sees."""
    outputs = [key for key in keys(client) if key.startswith("out/") and "/_" not in key]
    contents = [client.get_object(Bucket="box", Key=key)["Body"].read() for key in outputs]
    return sorted(json.loads(line)["id"] for content in contents for line in content.splitlines())


def test_a_folder_of_a_bucket_is_scored_into_another_and_a_rerun_scores_what_changed(s3, spec):
    names = put_some(s3)
    s3.put_object(Bucket="box", Key="in/", Body=b"")  # how consoles make a folder
    time.sleep(1.1)
    outcomes = score_files(["s3://box/in/"], "s3://box/out/", TableJob(spec))
    assert [(outcome.status, outcome.n_rows, outcome.error) for outcome in outcomes] == [("scored", ROWS, None)] * 4
    assert [key for key in keys(s3) if key.startswith("out/") and "/_" not in key] == [f"out/{name}" for name in names]
    assert rows_out(s3) == sorted(f"in/{name} {row}" for name in names for row in range(ROWS))
    assert [outcome.status for outcome in score_files(["s3://box/in"], "s3://box/out", TableJob(spec))] == [
        "current"
    ] * 4
    time.sleep(1.1)
    put(s3, f"in/{names[1]}", ROWS + 1)
    s3.delete_object(Bucket="box", Key=f"out/{names[2]}")
    outcomes = score_files(["s3://box/in"], "s3://box/out", TableJob(spec))
    assert [outcome.status for outcome in outcomes] == ["current", "scored", "scored", "current"]
    assert len(rows_out(s3)) == len(set(rows_out(s3))) == 4 * ROWS + 1


def test_a_missing_bucket_is_named_before_anything_is_scored(s3, spec):
    put_some(s3)
    with pytest.raises(PfgenError, match=r"^s3://nowhere/in: no such file or folder\Z"):
        score_files(["s3://nowhere/in"], "s3://box/out", TableJob(spec))
    told = r"^s3://nowhere/out/_pfgen_fast\.json: cannot be written: there is no such [^\n]*\Z"
    with pytest.raises(PfgenError, match=told):
        score_files(["s3://box/in"], "s3://nowhere/out", TableJob(spec))


def test_without_credentials_the_url_is_named(s3, spec, monkeypatch, tmp_path):
    import s3fs

    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(name, str(tmp_path / "none"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    s3fs.S3FileSystem.clear_instance_cache()
    with pytest.raises(PfgenError, match=r"^s3://box/in: cannot be read: .*[Cc]redentials[^\n]*\Z"):
        score_files(["s3://box/in"], tmp_path / "out", TableJob(spec))


def test_a_key_that_looks_like_a_chain_of_protocols_is_a_name(s3, spec):
    put(s3, "in/day=3/a::file:x.jsonl")
    [outcome] = score_files(["s3://box/in/*=3/*.jsonl"], "s3://box/out", TableJob(spec))
    assert (outcome.status, outcome.task.source) == ("scored", "s3://box/in/day=3/a::file:x.jsonl")
    assert "out/a::file:x.jsonl" in keys(s3)
