"""The reward and the dataset for TRL."""

import functools
import json
import pickle
import re
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace

import pytest
from makers.documented import DOCS
from makers.engines import integration
from makers.tiny_model import write_tiny_model
from pfgen_fast import Copying, GroupRelative, Overlong, PfgenError, Reward, Unfinished
from pfgen_fast.generation.prompts import make_tasks
from pfgen_fast.integrations.trl import make_dataset, make_reward
from pfgen_fast.integrations.trl_environment import Environment
from pfgen_fast.rewards.completions import answer_in

PAGE = DOCS / "integrations" / "trl.md"
QUESTION = "Why does ice float on water?"  # Q07 of mini
GOOD = "Ice is about 9% less dense than water: its molecules freeze into an open crystal lattice."


def message(text: str | None) -> list[dict[str, str | None]]:
    return [{"role": "assistant", "content": text}]


def test_a_reward_is_the_score_of_what_would_be_kept_of_the_answer(scorer):
    good, bad = scorer.reward("Q07", [GOOD, "Because."]).tolist()
    reward = make_reward("mini")
    completions = [f" {GOOD}\n\nQ: And why", f"\n{GOOD} Q: more", "Because. ", ""]
    questions = ["Q07", QUESTION, "Q07", "Q07"]
    assert reward(prompts=["p"] * 4, completions=completions, question=questions, step=3) == [good, good, bad, 0.0]
    reward = make_reward("mini", "chat", column="id")
    completions = [message(f"Well. A: {GOOD}"), message("Because."), message(None), []]
    assert reward(prompts=[[]] * 4, completions=completions, id=["Q07"] * 4) == [good, bad, 0.0, 0.0]


@pytest.mark.parametrize(
    ("content", "answer"),
    [
        ("It floats.", "It floats."), ([{"type": "text", "text": "It floats."}], "It floats."),
        ([{"type": "image"}, {"type": "text", "text": "It"}, {"type": "text", "text": " floats. Q:"}], "It floats."),
        ([{"type": "thinking", "thinking": "Hm."}], ""), ([], ""), (None, ""),
    ],
)  # fmt: skip
def test_the_content_of_a_message_may_have_parts(content, answer):
    assert answer_in([{"role": "user", "content": "Why?"}, {"role": "assistant", "content": content}], "chat") == answer
    assert answer_in([{"role": "assistant", "tool_calls": []}], "chat") == ""


@pytest.mark.parametrize("bad", [None, 3, b"It", {"content": "It"}, [None], message(3), message({"type": "text"})])
def test_invalid_completions_are_one_clear_sentence(bad):
    with pytest.raises(PfgenError, match="expected a completion, which is a text or messages, not "):
        answer_in(bad, "chat")
    for part in (None, "It", {"type": "text"}, {"type": "text", "text": 3}):
        with pytest.raises(
            PfgenError, match=r"expected a part of a message such as \{'type': 'text', 'text': \.\.\.\}, not"
        ):
            answer_in(message([part]), "chat")


def test_an_unknown_mode_and_a_missing_column_are_one_clear_sentence():
    with pytest.raises(PfgenError, match="unknown mode 'chatty'; expected one of completion, qa, chat"):
        make_reward("mini", "chatty")
    with pytest.raises(PfgenError, match=r"the dataset has no column 'question'"):
        make_reward("mini")(prompts=["p"], completions=["c"])


@pytest.mark.parametrize("mode", ["completion", "qa"])
def test_a_dataset_has_the_prompts_of_generate(mini, monkeypatch, mode):
    created = SimpleNamespace(Dataset=SimpleNamespace(from_dict=dict))
    monkeypatch.setitem(sys.modules, "datasets", created)
    dataset = make_dataset("mini", mode, trials=2, num_examples=3)
    tasks = [task for trial in (1, 2) for task in make_tasks(mini, trial, mode=mode, num_examples=3)]
    assert dataset["question"] == [task.question_id for task in tasks]
    assert dataset["prompt"] == [task.prompt.text or list(task.prompt.messages) for task in tasks]
    assert dataset == make_dataset(mini, mode, trials=2, num_examples=3)


def test_rows_of_another_task_have_no_reward_and_faults_name_the_row(scorer):
    (good,) = scorer.reward("Q07", [GOOD]).tolist()
    reward = make_reward("mini")
    assert reward(prompts=["p"] * 3, completions=["42", GOOD, "7"], question=[None, "Q07", None]) == [None, good, None]
    assert reward(prompts=["p"], completions=["42"], question=[None]) == [None]
    with pytest.raises(PfgenError, match=r"^questions\[2\]: .*Q77"):
        reward(prompts=["p"] * 3, completions=["42", GOOD, GOOD], question=[None, "Q07", "Q77"])


def test_a_part_of_the_score_may_be_the_reward(scorer):
    table = scorer.score("Q07", [GOOD, "Because."])
    for part in ("fluency", "truthfulness", "helpfulness"):
        reward = make_reward("mini", metric=part)
        assert reward(prompts=["p"] * 2, completions=[GOOD, "Because."], question=["Q07"] * 2) == table[part].tolist()
        assert reward.__name__ == f"pfgen_{part}"
    with pytest.raises(PfgenError, match="unknown metric 'length'; expected one of score, fluency, truthfulness, help"):
        make_reward("mini", metric="length")


def test_a_shape_gets_what_trl_passes_and_is_logged(scorer):
    shape = [Overlong(20, 40, "tokens"), Copying(10, 0.3), Unfinished()]
    reward = make_reward("mini", "chat", shape=shape, max_completion_length=30)
    prompts = [message("Answer briefly."), message("Is water dense?"), message(GOOD), message("?"), message("?")]
    completions = [message(text) for text in (GOOD, "42", GOOD, GOOD, f"<think>{GOOD}")]
    logged, kept = {}, {}
    rewards = reward(
        prompts=prompts,
        completions=completions,
        completion_ids=[[1] * 25, [1], [1] * 20, [1] * 30, [1] * 10],
        question=["Q07", None, "Q07", "Q07", "Q07"],
        log_metric=logged.__setitem__,
        log_extra=kept.__setitem__,
    )
    (good,) = scorer.reward("Q07", [GOOD]).tolist()
    assert rewards == [good * 0.75, None, 0.0, 0.0, 0.0]
    parts = ("fluency", "truthfulness", "helpfulness", "score", "overlong", "copying", "unfinished")
    assert list(logged) == [f"pfgen/{part}" for part in parts]
    assert logged["pfgen/unfinished"] == 0.5
    assert logged["pfgen/score"] == pytest.approx(0.75 * good)
    assert kept == {"pfgen_answer": [GOOD, None, GOOD, GOOD, ""]}
    same = make_reward(Reward("mini", shape), "chat")
    asked = {"prompts": prompts[:1], "completions": completions[:1], "completion_ids": [[1] * 25], "question": ["Q07"]}
    assert same(**asked) == rewards[:1]
    with pytest.raises(PfgenError, match="n_tokens are missing"):
        same(prompts=prompts[:1], completions=completions[:1], question=["Q07"])


def test_references_may_be_a_column_of_the_dataset():
    reward = make_reward(metric="chrf", references="good", shape="recommended")
    columns = {"good": [None, ["Ice floats.", "Ice is light."], ["Salt sinks."]]}
    result = reward(prompts=["p"] * 3, completions=["42", "Ice floats.", "Salt floats."], **columns)
    assert result == [None, pytest.approx(100), pytest.approx(result[2])]
    assert 0 < result[2] < 90
    assert reward.__name__ == "pfgen_chrf"
    with pytest.raises(PfgenError, match=r"references\[1\]: expected a list of references"):
        reward(prompts=["p"] * 2, completions=["a", "b"], good=[None, "b"])
    with pytest.raises(PfgenError, match="good: expected 2 values, one for each completion"):
        reward(prompts=["p"] * 2, completions=["a", "b"], good=[["b"]])
    with pytest.raises(PfgenError, match="no column 'good' with the reference answers of each prompt"):
        reward(prompts=["p"], completions=["a"])


@pytest.mark.parametrize(
    ("arguments", "options", "sentence"),
    [
        ((), {}, "suite: expected a suite, or reference answers"),
        ((), {"metric": "chrf"}, "suite: expected a suite, or reference answers"),
        (("mini",), {"metric": "chrf", "references": "r"}, "references: expected a suite or .*, not both"),
        ((), {"metric": "chrff", "references": "r"}, "unknown metric 'chrff'; .*did you mean 'chrf'"),
        ((Reward("mini"),), {"shape": "recommended"}, "expected none of them with a Reward"),
        (("mini",), {"shape": "recomended"}, "shape: expected 'recommended' or a file"),
    ],
)
def test_rewards_that_cannot_be_made_are_one_clear_sentence(arguments, options, sentence):
    with pytest.raises((PfgenError, ValueError), match=sentence):
        make_reward(*arguments, **options)


@pytest.mark.integrations
@pytest.mark.filterwarnings("ignore")
def test_trl_trains_on_several_tasks_and_rewards_at_once(tiny_model, tmp_path, scorer):
    trl, datasets = integration("trl"), integration("datasets")
    calls = []

    def recorded(function):
        @functools.wraps(function)
        def call(prompts, completions, **columns):
            rewards = function(prompts, completions, **columns)
            calls.append((function.__name__, completions, columns["question"], rewards))
            return rewards

        return call

    async def sums(prompts, completions, question, **columns):
        pairs = zip(question, completions, strict=True)
        return [None if name is not None else float(len(text)) for name, text in pairs]

    ours = [make_reward("mini", metric=metric) for metric in ("score", "fluency", "helpfulness")]
    prompts = make_dataset("mini", trials=1, num_examples=1)
    other = datasets.Dataset.from_dict({"prompt": ["1 + 1 =", "2 + 2 ="] * 2})
    trainer = trl.GRPOTrainer(
        model=str(tiny_model),
        reward_funcs=[*map(recorded, ours), sums],
        train_dataset=datasets.concatenate_datasets([prompts, other]),
        args=trl.GRPOConfig(
            output_dir=str(tmp_path),
            reward_weights=[1.0, 0.5, 0.0, 0.01],
            max_steps=3,
            logging_steps=1,
            per_device_train_batch_size=16,
            num_generations=2,
            max_completion_length=16,
            use_cpu=True,
            report_to="none",
        ),
    )
    trainer.train()
    steps = [entry for entry in trainer.state.log_history if "reward" in entry]
    assert len(steps) == 3
    assert len(calls) == 9
    score_calls = [call for call in calls if call[0] == "pfgen_score"]
    for (name, completions, questions, rewards), column in zip(
        calls, ["average", "fluency", "helpfulness"] * 3, strict=True
    ):
        for completion, question, reward in zip(completions, questions, rewards, strict=True):
            expected = question and float(scorer.score(question, [answer_in(completion, "completion")])[column][0])
            assert reward == expected, name
    assert {question is None for _, _, questions, _ in calls for question in questions} == {True, False}
    for entry, (_, _, _, rewards) in zip(steps, score_calls, strict=True):
        values = [reward for reward in rewards if reward is not None]
        assert entry["rewards/pfgen_score/mean"] == pytest.approx(sum(values) / len(values), rel=1e-5)
        assert entry["pfgen/fluency"] == pytest.approx(entry["rewards/pfgen_fluency/mean"], rel=1e-5)
        assert 0 <= entry["pfgen/truthfulness"] <= 1


@pytest.mark.integrations
@pytest.mark.filterwarnings("ignore")
def test_the_worker_of_the_asynchronous_trainer_scores_answers_and_submissions(mini, scorer, tmp_path, monkeypatch):
    """The spawned worker of AsyncGRPOTrainer, which pickles rewards, with a server in the place of vLLM."""
    trl, datasets, transformers = integration("trl"), integration("datasets"), integration("transformers")
    from accelerate.state import PartialState
    from trl.experimental.async_grpo import async_rollout_worker

    template = Path(trl.__file__).parent / "chat_templates" / "qwen3.jinja"
    folder = write_tiny_model(tmp_path, mini, chat_template=template.read_text(encoding="utf-8"))
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    call = {"name": "submit_answer", "arguments": {"answer": GOOD}}

    class Completions(BaseHTTPRequestHandler):
        log_message = staticmethod(lambda *args: None)

        def do_POST(self):
            prompt = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["prompt"]
            has_called = "<tool_response>" in tokenizer.decode(prompt)
            text = "It floats." if has_called else f"<tool_call>\n{json.dumps(call)}\n</tool_call>"
            ids = tokenizer(text)["input_ids"]
            choice = {"token_ids": ids, "logprobs": {"token_logprobs": [-1.0] * len(ids)}}
            body = json.dumps({"choices": [choice]}).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    monkeypatch.setattr(async_rollout_worker, "is_vllm_available", lambda: True)
    PartialState(cpu=True)
    with ThreadingHTTPServer(("127.0.0.1", 0), Completions) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        worker = async_rollout_worker.AsyncRolloutWorker(
            model_name="tiny",
            dataset=datasets.Dataset.from_dict({"prompt": [message("Why does ice float?")], "question": ["Q07"]}),
            reward_funcs=[make_reward("mini", "chat")],
            processing_class=tokenizer,
            eos_token_ids=[tokenizer.eos_token_id],
            environment_factory=functools.partial(Environment, "mini", "chat"),
            num_generations=2,
            vllm_server_url=f"http://127.0.0.1:{server.server_port}",
        )
        worker.start()
        metrics = worker.rollout_buffer.get(timeout=120).metrics
        worker._process.kill()
        server.shutdown()
    answered, submitted = scorer.reward("Q07", ["It floats.", GOOD]).tolist()
    assert (metrics["rewards/pfgen_score"], metrics["rewards/Environment"]) == (answered, submitted)
    assert metrics["reward"] == answered + submitted


def test_a_reward_is_a_small_pickle_with_a_name_and_an_environment_owns_it(scorer):
    reward = pickle.loads(pickle.dumps(make_reward("mini", "chat", shape="recommended", name="mine")))
    assert reward.__name__ == "mine_score"
    assert len(pickle.dumps(reward)) < 2000
    environment = Environment(Reward(scorer), "chat")
    environment.reset(prompt=message("Why?"), question="Q07")
    assert environment.get_reward() == 0.0
    assert environment.submit_answer(GOOD)
    assert [environment.get_reward()] == scorer.reward("Q07", [GOOD]).tolist()


def test_answers_to_one_prompt_are_compared_and_a_faulty_one_is_left_out(scorer):
    reward = make_reward("mini", "chat", shape=[GroupRelative()], on_error="zero")
    prompts = [message("Why?"), message("Why?"), message("Why?"), message("Who?"), message("Who?")]
    completions = [message(GOOD), None, message("It."), message(GOOD), message(GOOD)]
    rewards = reward(prompts=prompts, completions=completions, question=["Q07"] * 5)
    assert rewards == pytest.approx([2**-0.5, 0, -(2**-0.5), 0, 0])
    assert reward(prompts=[*prompts[:4], None], completions=completions, question=["Q07"] * 5)[:3] == rewards[:3]
    with pytest.raises(PfgenError, match="compares the answers to one prompt; expected at least two answers, got one"):
        reward(prompts=prompts[3:4], completions=completions[3:4], question=["Q07"])
    strict = make_reward("mini", "chat", shape=[GroupRelative()])
    with pytest.raises(PfgenError, match=r"^prompts\[1\]: expected a text or messages, not None"):
        strict(prompts=[prompts[0], None], completions=completions[2:4], question=["Q07"] * 2)


def test_a_completion_that_cannot_be_scored_is_named_or_gets_the_reward_of_an_error(scorer):
    completions, columns = [message(GOOD), None, message(None), "42"], {"question": ["Q07", "Q07", "Q07", None]}
    with pytest.raises(PfgenError, match=r"^completions\[1\]: expected a completion, .*, not NoneType"):
        make_reward("mini", "chat")(prompts=["p"] * 4, completions=completions, **columns)
    logged = {}
    reward = make_reward("mini", "chat", on_error="zero")
    rewards = reward(prompts=["p"] * 4, completions=completions, **columns, log_extra=logged.__setitem__)
    assert rewards == [*scorer.reward("Q07", [GOOD]).tolist(), 0.0, 0.0, None]
    assert logged == {"pfgen_answer": [GOOD, None, "", None]}
    opened = make_reward("mini", "chat", shape=[Unfinished()])
    assert opened(prompts=["Q<think>\n"], completions=[GOOD], question=["Q07"]) == [0.0]
    kept = make_reward(Reward("mini", reasoning="keep"), "chat")
    thoughts = f"<think>Ice</think>{GOOD}"
    assert kept(prompts=["p"], completions=[thoughts], question=["Q07"]) == scorer.reward("Q07", [thoughts]).tolist()


@pytest.mark.integrations
def test_the_documented_examples_run(tiny_model, tmp_path, monkeypatch):
    integration("trl")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONWARNINGS", "ignore")
    (tmp_path / "org").mkdir()
    (tmp_path / "org" / "model").symlink_to(tiny_model)
    blocks = re.findall(r"(?<!-->\n)```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)
    assert len(blocks) == 2
    options = "max_steps=1, max_completion_length=8, use_cpu=True, report_to='none', per_device_train_batch_size=8"
    for block in blocks:
        short = block.replace('output_dir="grpo"', f'output_dir="grpo", {options}')
        assert short != block
        subprocess.run([sys.executable, "-c", short], check=True, cwd=tmp_path)
    assert (tmp_path / "grpo" / "checkpoint-1").is_dir()
