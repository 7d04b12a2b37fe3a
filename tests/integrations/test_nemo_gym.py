"""The resources server of NeMo Gym, in its package; requests of its agents to our server are in test_adapters.py."""

from types import SimpleNamespace

import pytest
from pfgen_fast import Reward

GOOD = "Ice is about 9% less dense than water: its molecules freeze into an open crystal lattice."


def body(text=GOOD, **columns):
    content = [{"type": "output_text", "text": text, "annotations": []}]
    message = {"id": "m", "type": "message", "role": "assistant", "status": "completed", "content": content}
    response = {"id": "r", "created_at": 0, "model": "m", "object": "response", "output": [message]}
    settings = {"parallel_tool_calls": True, "tool_choice": "auto", "tools": []}
    request = {"input": [{"role": "user", "content": "Why?"}]}
    return {"responses_create_params": request, "response": response | settings, **columns}


@pytest.mark.integrations
@pytest.mark.filterwarnings("ignore:Standard error is 0")  # of parts that are equal
def test_its_resources_server_returns_rewards_and_parts_and_averages_them():
    pytest.importorskip("nemo_gym")  # 0.7 needs Python 3.13
    from fastapi.testclient import TestClient
    from nemo_gym.server_utils import ServerClient
    from pfgen_fast.integrations.nemo_gym import PfgenConfig, PfgenResourcesServer

    config = PfgenConfig(host="", port=0, entrypoint="app.py", name="pfgen", suite="mini", shape="recommended")
    client = ServerClient.model_construct(global_config_dict=SimpleNamespace())
    table = Reward("mini", "recommended").details("Q07", [GOOD])
    with TestClient(PfgenResourcesServer(config=config, server_client=client).setup_webserver()) as server:
        reply = server.post("/verify", json=body(question="Q07")).json()
        parts = {name: table[name][0] for name in table.columns if name not in ("score", "reward")}
        assert (reply["reward"], reply["reward_components"]) == (table["reward"][0], parts)
        other = server.post("/verify", json=body("Because.", verifier_metadata={"question": "Q07"})).json()
        assert other["reward"] == 0
        for columns, sentence in (
            ({"question": "Q99"}, "question: unknown question 'Q99'"),
            ({}, "question: expected"),
        ):
            refused = server.post("/verify", json=body(**columns))
            assert (refused.status_code, refused.json()["detail"][: len(sentence)]) == (400, sentence)
        rows = [{**row, "_ng_task_index": 0, "_ng_rollout_index": number} for number, row in enumerate((reply, other))]
        [group] = server.post("/aggregate_metrics", json={"verify_responses": rows}).json()["group_level_metrics"]
    assert group["mean/reward"] == pytest.approx(reply["reward"] / 2)
    assert group["mean/fluency"] == pytest.approx((reply["fluency"] + other["fluency"]) / 2)
