"""Servers that play models which reason: their answers are those of a model that does not."""

import json
import lzma
import sys
from types import SimpleNamespace
from typing import ClassVar

import pytest
from makers.fault_server import Reply, refusing, serving
from makers.runs import make_run
from pfgen_fast import Generation, Scorer
from pfgen_fast.generation.engines.transformers import decoded, opened_reasoning
from pfgen_fast.generation.setting import Reasoning, usual_mode
from pfgen_fast.runs.run_result import read_result
from pfgen_fast.runs.trials import Trials
from pfgen_fast.scoring.reply_text import answer_text

WRONG = "Q: why?\n\nA: no"


def completion(message, *, finish_reason="stop", **usage):
    choice = {"message": message, "finish_reason": finish_reason}
    return Reply(json.dumps({"choices": [choice], "usage": usage}).encode())


MODELS = {
    "tags": lambda answer: {"content": f"<think>\n{WRONG}\n</think>\n\nA: {answer}\nQ: next"},
    "opened by the template": lambda answer: {"content": f"{WRONG}</think>{answer}"},
    "told not to reason": lambda answer: {"content": f"<think>\n\n</think>\n\n{answer}"},
    "channels": lambda answer: {
        "content": f"<|channel|>analysis<|message|>{WRONG}<|end|><|start|>a<|channel|>final<|message|>{answer}<|end|>"
    },
    "reasoning_content": lambda answer: {"content": answer, "reasoning_content": WRONG},
    "reasoning": lambda answer: {"content": answer, "reasoning": [{"type": "x", "text": WRONG}]},
    "parts": lambda answer: {
        "content": [{"type": "thinking", "text": WRONG}, {"type": "text", "text": answer}],
        "thinking": WRONG,
    },
}
"""The message of a model that reasons, from its answer."""

UNFINISHED = {
    "tags": completion({"content": f"<think>{WRONG}"}, finish_reason="length"),
    "field": completion({"content": None, "reasoning_content": WRONG}, finish_reason="length"),
    "hidden": completion({"content": ""}, finish_reason="length", completion_tokens_details={"reasoning_tokens": 300}),
}


def run(mini, server, output, *, trials=1, **options):
    generation = Generation.of("openai", model="org/m", mode="chat", options={"base_url": server.base_url}, **options)
    return generation.run(mini, trials=trials, output=output)


ASKING = ("generate", "-e", "openai", "-m", "org/m", "--mode", "qa", "-s", "mini")
"""A command, but for the server and the folder of results."""


def answers_of(generated):
    return Trials.of(generated.run).answers


def entries_of(generated):
    return [json.loads(line) for line in lzma.open(generated.folder / "replies.jsonl.xz")]


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS)
def test_the_answer_follows_the_reasoning(mini, tmp_path, model):
    with serving(lambda request: completion(MODELS[model](f"About {request.question}"))) as server:
        generated = run(mini, server, tmp_path, reasoning=Reasoning(tokens=1000))
    assert sorted(answers_of(generated)) == sorted(f"About {question.question}" for question in mini)
    assert len(server.requests) == len(mini)
    assert all("stop" not in request.body and request.body["max_tokens"] == 1300 for request in server.requests)
    n_reasoning = 0 if model == "told not to reason" else len(mini)
    assert (generated.replies.n_reasoning, generated.replies.n_unfinished) == (n_reasoning, 0)
    assert all(entry["state"] == "closed" for entry in entries_of(generated))
    assert not list(generated.replies.problems)


@pytest.mark.slow
@pytest.mark.parametrize("model", UNFINISHED)
def test_unfinished_reasoning_is_an_empty_answer_that_is_not_asked_again(mini, tmp_path, model):
    with serving(lambda request: UNFINISHED[model]) as server:
        generated = run(mini, server, tmp_path)
        assert len(server.requests) == len(mini)
    assert set(answers_of(generated)) == {""}
    assert not generated.events.troubles
    assert (generated.replies.n_unfinished, generated.replies.n_cut) == (len(mini), len(mini))
    (problem,) = generated.replies.problems
    assert "--reasoning-tokens" in problem
    assert read_result(generated.score(mini).path).score == 0


def test_reasoning_is_kept_on_request(mini, tmp_path):
    text = f"<think>\n{WRONG}</think>It floats."
    with serving(lambda request: completion({"content": text})) as server:
        kept = run(mini, server, tmp_path, reasoning=Reasoning(keep=True))
        stripped = run(mini, server, tmp_path)
    assert server.requests[0].body["stop"] == ["Q:"]
    assert set(answers_of(kept)) == {"<think>"}  # the stop string ends the text within the reasoning
    assert set(answers_of(stripped)) == {"It floats."}
    assert json.loads((kept.folder / "config.json").read_bytes())["reasoning"] == "keep"
    assert "reasoning" not in (stripped.folder / "config.json").read_text()


@pytest.mark.parametrize("is_damaged", [False, True])
def test_a_record_of_replies_that_was_deleted_or_damaged_stops_nothing(mini, tmp_path, is_damaged):
    with serving(lambda request: completion(MODELS["tags"]("x"))) as server:
        first = run(mini, server, tmp_path)
        assert len(entries_of(first)) == len(mini)
        packed = first.folder / "replies.jsonl.xz"
        if is_damaged:
            packed.write_bytes(b"\xfd7zXZ")
            with pytest.warns(RuntimeWarning, match=r"\.xz: damaged .*; new replies stay in .* is readable or deleted"):
                assert run(mini, server, tmp_path, trials=2).replies is None
        packed.unlink()
        more = run(mini, server, tmp_path, trials=2)
    assert {entry["trial"] for entry in entries_of(more)} == {2}
    assert len(Trials.of(more.run).answers) == 2 * len(mini)


@pytest.mark.parametrize(
    ("message", "option"),
    [
        ("Unsupported parameter: 'temperature' is not supported with this model.", "try --omit temperature"),
        ("Completions.create() got an unexpected keyword argument 'top_p'", "try --omit top_p"),
        ("Unsupported value: stop is not supported with this model", "try --omit stop"),
        (
            "Unsupported parameter: 'max_tokens' is not supported by this model. Use 'max_completion_tokens' instead",
            "try --max-tokens-name max_completion_tokens",
        ),
    ],
)
def test_a_refused_parameter_ends_the_command_with_the_option_that_helps(tmp_path, call, message, option):
    with serving(lambda request: refusing(400, message)) as server:
        code, _, err = call(*ASKING, "-o", tmp_path, "--base-url", server.base_url, "--concurrency", "1")
    assert (code, len(server.requests)) == (2, 1)
    assert message in err
    assert option in err
    assert not list(tmp_path.iterdir())


def test_options_shape_the_requests(tmp_path, call):
    (tmp_path / "system.txt").write_text("Be kind.")
    arguments = (
        *("generate", "-e", "openai", "-m", "me/step-10", "--mode", "chat", "-s", "mini", "-o", tmp_path, "-n", "1"),
        *("--served-model", "served", "--omit", "top_p,seed", "--temperature", "none", "--reasoning-effort", "low"),
        *("--extra-body", '{"provider": {"order": ["a"]}, "seed": 7}', "--system", f"@{tmp_path / 'system.txt'}"),
        *("--chat-template-kwargs", '{"enable_thinking": false}'),
    )
    with serving(lambda request: completion({"content": "x"})) as server:
        assert call(*arguments, "--base-url", server.base_url)[0] == 0
    for request in server.requests:
        system, _ = request.body.pop("messages")
        assert system["content"].startswith("Be kind.\n\n")
        assert request.body == {
            "model": "served", "max_tokens": 300, "reasoning_effort": "low", "provider": {"order": ["a"]},
            "seed": 7, "chat_template_kwargs": {"enable_thinking": False},
        }  # fmt: skip
    (path,) = (tmp_path / "me" / "step-10").rglob("config.json")
    config = json.loads(path.read_bytes())
    assert (config["omit"], config["system"]) == (["seed", "temperature", "top_p"], "Be kind.")
    assert config.keys().isdisjoint({"temperature", "top_p", "reasoning"})


@pytest.mark.parametrize(
    ("option", "value", "problem"),
    [
        ("--omit", "temprature", "unknown parameter 'temprature'"),
        ("--extra-body", "[1]", "expected a JSON object, got '[1]'"),
        *(("--extra-body", text, "expected a JSON object") for text in ('{"a": NaN}', '{"a": "\\ud800"}', "{")),
        ("--extra-body", "@no/such", "no/such: cannot be read"),
        ("--temperature", "hot", "expected a number or 'none'"),
    ],
)
def test_a_bad_option_is_refused_before_any_request(tmp_path, call, option, value, problem):
    code, _, err = call(*ASKING, "-o", tmp_path, option, value, "--base-url", "http://127.0.0.1:9/v1")
    assert code == 2
    assert problem in " ".join(err.replace("│", " ").split())


@pytest.mark.parametrize(
    ("content", "is_warned"), [("<think>\n\n</think>It floats.", False), ("<think>Hm.</think>It floats.", True)]
)
def test_reasoning_despite_its_option_and_answers_at_the_limit_are_named(tmp_path, call, content, is_warned):
    with serving(lambda request: completion({"content": content}, finish_reason="length")) as server:
        options = ("-n", "1", "-o", tmp_path, "--disable-thinking", "--base-url", server.base_url)
        code, _, err = call(*ASKING, *options)
    assert code == 0
    assert ("the model reasons despite" in err) == is_warned
    assert "warning: 8 of 8 answers ended at the limit of tokens; allow more (--max-tokens)" in err
    assert "error:" not in err
    with serving(lambda request: completion({"content": content}, finish_reason="content_filter")) as server:
        _, _, err = call(*ASKING, "-n", "1", "-o", tmp_path / "filtered", "--base-url", server.base_url)
    assert "warning: 8 of 8 answers were cut by the content filter of the server" in err


def test_runs_and_tables_with_reasoning_can_be_scored_without_it(mini, tmp_path, call):
    for name, reasoning in (("thinking", f"<think>{WRONG}</think>\n\n"), ("plain", "")):
        rows = [{"question": question.question, "answer": reasoning + question.answers["A"][0]} for question in mini]
        make_run(tmp_path / name, list(map(json.dumps, rows)))

    def scored(name, *options):
        code, out, _ = call("score", tmp_path / name, "-s", "mini", "--json", *options)
        assert code == 0
        return json.loads(out)[0]

    stripped = scored("thinking", "--reasoning", "strip", "-o", tmp_path / "other")
    kept = scored("thinking", "-o", tmp_path / "other")
    assert kept["status"] == "scored"  # the score without reasoning does not pass for the usual one
    assert stripped["score"] == scored("plain")["score"] > kept["score"]
    notes = [any("contain reasoning" in note for note in item["notes"]) for item in (kept, stripped)]
    assert notes == [True, False]
    assert call("score", tmp_path / "thinking", "--reasoning", "strip", "-s", "mini")[0] == 2
    table, averages = tmp_path / "in.jsonl", []
    table.write_bytes((tmp_path / "thinking" / "trials.jsonl").read_bytes())
    for choice in ("strip", "keep"):
        options = ("--question-column", "question", "--answer-column", "answer", "--reasoning", choice, "-s", "mini")
        assert call("score", table, "-o", tmp_path / "table.jsonl", *options)[0] == 0
        averages.append([json.loads(line)["average"] for line in (tmp_path / "table.jsonl").read_text().splitlines()])
    references = [question.answers["A"][0] for question in mini]
    assert averages[0] == list(Scorer(mini).score([question.question for question in mini], references).average)
    assert all(without > with_it for without, with_it in zip(*averages, strict=True))


class Tokenizer:
    """Has the special tokens of a model that writes channels, and one token for each other character."""

    added_tokens_decoder: ClassVar = {
        number: SimpleNamespace(content=text, special=True)
        for number, text in enumerate(("<|channel|>", "<|message|>", "<|end|>", "<eos>"), 0x1_0000)
    }

    def decode(self, tokens, *, skip_special_tokens=False, **_):
        special = {number: token.content for number, token in self.added_tokens_decoder.items()}
        texts = (special.get(token, "") if token in special else chr(token) for token in tokens)
        return "".join("" if skip_special_tokens and text in special.values() else text for text in texts)


def test_only_special_tokens_that_divide_a_reply_are_decoded(monkeypatch):
    channel, message, end, eos = Tokenizer.added_tokens_decoder
    tokens = [channel, *map(ord, "analysis"), message, *map(ord, "Hm."), end, channel, *map(ord, "final"), message]
    text = decoded(Tokenizer(), [*tokens, *map(ord, "It floats."), end, eos])
    assert text == "<|channel|>analysis<|message|>Hm.<|end|><|channel|>final<|message|>It floats.<|end|>"
    assert answer_text(text).answer == "It floats."
    without_channels = {0x1_0000: SimpleNamespace(content="<|end|>", special=True)}
    monkeypatch.setattr(Tokenizer, "added_tokens_decoder", without_channels)
    assert decoded(Tokenizer(), [*map(ord, "It floats."), 0x1_0000]) == "It floats."


@pytest.mark.parametrize(("end", "opening"), [("<think>\n", "<think>"), ("</think>\n", ""), ("A:", "")])
def test_reasoning_that_the_template_opened_is_recognised_without_its_end(end, opening):
    assert opened_reasoning(Tokenizer(), list(map(ord, f"a long prompt {end}"))) == opening


def test_a_replayed_run_has_the_mode_of_its_input(tmp_path):
    assert usual_mode("replay", "m", {"input": tmp_path / "answers.jsonl"}) == ("completion", "")
    (tmp_path / "config.json").write_text('{"mode": "chat"}')
    assert usual_mode("replay", "m", {"input": tmp_path / "answers.jsonl"})[0] == "chat"
    assert usual_mode("openai", "m", {}) == ("completion", "")


class Hub:
    """Stands in for the packages that load a tokenizer: models by name, and whether local files have them."""

    models: ClassVar = {"org/local": True, "org/remote": False, "org/plain": True}

    def __init__(self, monkeypatch):
        self.asked = []
        tokenizer = SimpleNamespace(from_pretrained=self.load)
        hub = SimpleNamespace(get_hf_file_metadata=self.find, hf_hub_url=lambda model, file: model)
        monkeypatch.setitem(sys.modules, "transformers", SimpleNamespace(AutoTokenizer=tokenizer))
        monkeypatch.setitem(sys.modules, "huggingface_hub", hub)

    def load(self, name, *, local_files_only, trust_remote_code):
        if not self.models[name] and local_files_only:
            raise OSError(name)
        return SimpleNamespace(chat_template=None if name == "org/plain" else "t")

    def find(self, name, timeout):
        self.asked.append((name, timeout))
        if name not in self.models:
            raise ConnectionError(name)


def test_local_files_tell_the_mode_before_the_hub_is_asked_once(monkeypatch, tmp_path):
    hub, doubt = Hub(monkeypatch), "chat template is unknown"
    by_template = ("chat", "the tokenizer has a chat template")
    assert usual_mode("vllm", "org/local", {}) == usual_mode("hf", "m", {"path": "org/local"}) == by_template
    assert usual_mode("hf", "org/plain", {}) == ("completion", "")
    mode, why = usual_mode("hf", str(tmp_path), {})  # a folder without a model
    assert (mode, doubt in why, hub.asked) == ("completion", True, [])
    assert usual_mode("hf", "org/remote", {}) == by_template
    mode, why = usual_mode("hf", "no/such", {})
    assert (mode, doubt in why, hub.asked) == ("completion", True, [("org/remote", 10), ("no/such", 10)])


def test_a_dry_run_neither_asks_the_hub_nor_loads_a_model(monkeypatch, call):
    hub = Hub(monkeypatch)
    arguments = ("sweep", "-e", "hf", "-s", "mini", "-m", "org/local", "-m", "org/remote", "--dry-run")
    code, out, err = call(*arguments)
    assert (code, hub.asked, out.count(": result/")) == (0, [], 2)
    assert err == (
        "note: mode chat: the tokenizer has a chat template; --mode chooses another\n"
        "note: mode completion: without the files of org/remote, its chat template is unknown; --mode chooses another\n"
    )
    assert call(*arguments, "--json")[2] == ""
