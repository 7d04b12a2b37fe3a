"""The transformers engine with a tiny random model: what answers depend on, where they end, which errors are raised."""

import json
import math
import shutil
import sys
from collections import Counter
from types import SimpleNamespace

import pytest
from makers import asked_engines
from pfgen_fast.base.errors import EngineError
from pfgen_fast.generation.engines.engine_registry import open_engine
from pfgen_fast.generation.engines.transformers import ChatTemplate
from pfgen_fast.generation.generating import generate
from pfgen_fast.generation.prompts import Sampling, make_tasks
from pfgen_fast.generation.setting import Setting
from pfgen_fast.scoring.reply_text import first_part

SHORT = Sampling(max_tokens=24)


def make_engine(mini, model, mode="completion", sampling=SHORT, **options):
    return open_engine(
        "transformers", suite=mini, model=str(model), mode=mode, sampling=sampling, **{"device": "cpu", **options}
    )


def answers_to(engine, tasks):
    """The answers in the order of their tasks."""
    answers = asked_engines.answers_to(engine, tasks)
    return [answers[index] for index in range(len(tasks))]


def tasks_of(mini, mode="completion", trials=2):
    return [task for trial in range(1, trials + 1) for task in make_tasks(mini, trial, mode=mode, num_examples=3)]


@pytest.mark.models
@pytest.mark.parametrize("mode", ["completion", "qa", "chat"])
def test_answers_do_not_depend_on_how_batches_are_cut(mini, tiny_model, mode):
    tasks = tasks_of(mini, mode)
    one_by_one = answers_to(make_engine(mini, tiny_model, mode, batch_size=1), tasks)
    assert len(set(one_by_one)) == len(tasks)
    for batch_size in (5, 16):
        assert answers_to(make_engine(mini, tiny_model, mode, batch_size=batch_size), tasks) == one_by_one
    elsewhere = make_engine(mini, "org/model", mode, path=str(tiny_model))
    assert answers_to(elsewhere, tasks[::-1]) == one_by_one[::-1]
    assert set(elsewhere.parameters.values()) == {None}


@pytest.mark.models
def test_temperature_0_takes_the_most_likely_tokens(mini, tiny_model):
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer, model = AutoTokenizer.from_pretrained(tiny_model), AutoModelForCausalLM.from_pretrained(tiny_model)
    task = tasks_of(mini)[0]
    prompt = tokenizer(task.prompt.text, return_tensors="pt")
    tokens = model.generate(**prompt, do_sample=False, max_new_tokens=24)[0, prompt["input_ids"].shape[1] :]
    expected = tokenizer.decode(tokens, skip_special_tokens=True)
    assert expected
    engine = make_engine(mini, tiny_model, sampling=Sampling(max_tokens=24, temperature=0, stop=()))
    assert answers_to(engine, [task]) == [expected]


@pytest.mark.models
def test_an_answer_ends_before_a_stop_string_and_nothing_is_drawn_after_it(mini, tiny_model):
    task = tasks_of(mini)[0]
    (free,) = answers_to(make_engine(mini, tiny_model, sampling=Sampling(max_tokens=60, stop=())), [task])
    pairs = (free[at : at + 2] for at in range(8, 30))
    stop = next(pair for pair in pairs if "\ufffd" not in pair)  # complete characters only
    engine = make_engine(mini, tiny_model, sampling=Sampling(max_tokens=60, stop=(stop,)))
    created = engine._model.generate
    lengths = []

    def counting(**options):
        tokens = created(**options)
        lengths.append(tokens.shape[1] - options["input_ids"].shape[1])
        return tokens

    engine._model.generate = counting
    assert answers_to(engine, [task]) == [first_part(free, [stop])]
    assert lengths[0] < 60


@pytest.mark.models
@pytest.mark.parametrize(
    ("sampling", "expected"),
    [
        (Sampling(top_p=1), [0.5, 0.25, 0.15, 0.1]),
        (Sampling(top_p=0.7), [2 / 3, 1 / 3, 0, 0]),
        (Sampling(top_p=0.1), [1, 0, 0, 0]),
        (Sampling(top_p=1, top_k=3), [5 / 9, 2.5 / 9, 1.5 / 9, 0]),
        (Sampling(top_p=0.8, top_k=3), [2 / 3, 1 / 3, 0, 0]),  # 5/9 + 2.5/9 reach 0.8: top_p applies after top_k
        (Sampling(top_p=1, temperature=0.5), [0.25 / 0.345, 0.0625 / 0.345, 0.0225 / 0.345, 0.01 / 0.345]),
    ],
)
def test_tokens_are_drawn_as_often_as_the_rules_say(sampling, expected):
    import torch
    from pfgen_fast.generation.engines.transformers import _Draws

    n = 20_000
    order = [2, 0, 3, 1]  # tokens are not sorted by their probability
    logits = torch.tensor([math.log([0.5, 0.25, 0.15, 0.1][order.index(token)]) for token in range(4)])
    scores = _Draws(range(n), sampling)(torch.zeros(n, 1, dtype=torch.long), logits.repeat(n, 1))
    assert (scores == 0).sum() == n
    drawn = Counter(scores.argmax(dim=-1).tolist())
    for token, probability in zip(order, expected, strict=True):
        error = 4.5 * math.sqrt(probability * (1 - probability) / n)
        assert abs(drawn[token] / n - probability) <= error


EACH = "{% for message in messages %}[{{ message['content'] }}]{% endfor %}\n"
THINKS = "{% if enable_thinking is not defined %}<no word>{% elif enable_thinking %}<think>{% else %}<no>{% endif %}"


@pytest.mark.models
@pytest.mark.parametrize(("template", "thinking", "expected"), [
    (None, None, "<|system|>{}<|end|><|user|>{}<|end|><|assistant|>"),  # that of the model
    (EACH, None, "[{}][{}]"), (THINKS, True, "<think>"), (THINKS, False, "<no>"), (THINKS, None, "<no word>"),
])  # fmt: skip
def test_the_chat_template_makes_the_prompt(mini, tiny_model, tmp_path, template, thinking, expected):
    options = {"enable_thinking": thinking}
    if template is not None:
        (tmp_path / "chat.jinja").write_text(template)
        options["chat_template"] = str(tmp_path / "chat.jinja")
    engine = make_engine(mini, tiny_model, "chat", **options)
    (task, *_) = tasks_of(mini, "chat")
    contents = [message["content"] for message in task.prompt.messages]
    assert engine._tokenizer.decode(engine._tokens(task.prompt)) == expected.format(*contents)
    assert (engine.parameters["chat_template"], engine.parameters["enable_thinking"]) == (template, thinking)
    assert make_engine(mini, tiny_model, "completion", **options).parameters["chat_template"] is None


@pytest.mark.models
def test_the_end_token_that_a_tokenizer_appends_does_not_end_a_completion(mini, tiny_model, tmp_path):
    """Otherwise the model would be asked to go on after the end of its text."""
    from tokenizers.processors import TemplateProcessing
    from transformers import AutoTokenizer

    folder = shutil.copytree(tiny_model, tmp_path / "appending")
    tokenizer = AutoTokenizer.from_pretrained(folder)
    end = (tokenizer.eos_token, tokenizer.eos_token_id)
    tokenizer.backend_tokenizer.post_processor = TemplateProcessing(
        single=f"$A {end[0]}", pair=f"$A $B {end[0]}", special_tokens=[end]
    )
    tokenizer.save_pretrained(folder)
    assert AutoTokenizer.from_pretrained(folder)("text")["input_ids"][-1] == end[1]
    tasks = tasks_of(mini)
    assert answers_to(make_engine(mini, folder), tasks) == answers_to(make_engine(mini, tiny_model), tasks)


@pytest.mark.models
def test_the_code_that_comes_with_a_model_runs_only_if_it_is_trusted(mini, tiny_model, tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_MODULES_CACHE", str(tmp_path / "modules"))
    folder, trace = shutil.copytree(tiny_model, tmp_path / "with-code"), tmp_path / "it-ran"
    (folder / "code.py").write_text(
        f"from pathlib import Path\nPath({str(trace)!r}).touch()\n"
        "from transformers import LlamaConfig, LlamaForCausalLM\n"
        "class OurConfig(LlamaConfig):\n    model_type = 'ours'\n"
        "class OurModel(LlamaForCausalLM):\n    config_class = OurConfig\n"
    )
    config = json.loads((folder / "config.json").read_text())
    classes = {"AutoConfig": "code.OurConfig", "AutoModelForCausalLM": "code.OurModel"}
    (folder / "config.json").write_text(json.dumps({**config, "model_type": "ours", "auto_map": classes}))
    message = r"cannot be loaded: .* if you trust its authors, add --trust-remote"
    with pytest.raises(EngineError, match=message) as caught:
        make_engine(mini, folder)
    assert "\n" not in str(caught.value)
    assert not trace.exists()
    make_engine(mini, folder, trust_remote_code=True)
    assert trace.exists()


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("chat.jinja", None, "No such file or directory; expected a chat template"),
        ("chat.jinja", b"\xff", "expected a chat template in UTF-8"),
        ("a\0b", None, r"a\\u0000b: expected a chat template"),
    ],
)
def test_a_chat_template_that_cannot_be_read_is_one_sentence(tmp_path, name, content, message):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(EngineError, match=message):
        ChatTemplate.of("qa", str(tmp_path / name), None)


WITHOUT_SYSTEM = (
    "{% if messages[0].role == 'system' %}{{ raise_exception('no system\\nrole') }}{% endif %}{{ messages }}"
)


@pytest.mark.models
def test_a_model_without_a_fitting_chat_template_is_refused(mini, tmp_path):
    from makers.tiny_model import write_tiny_model

    bare = write_tiny_model(tmp_path / "bare", mini, chat_template=None)
    with pytest.raises(EngineError, match=r"bare has no chat template, which mode qa needs; try --mode completion or"):
        make_engine(mini, bare, "qa")
    make_engine(mini, bare, "completion")
    picky = write_tiny_model(tmp_path / "picky", mini, chat_template=WITHOUT_SYSTEM)
    with pytest.raises(EngineError, match=r"picky: its chat template refuses the messages of mode chat: no system"):
        make_engine(mini, picky, "chat")
    make_engine(mini, picky, "qa")


@pytest.mark.models
@pytest.mark.parametrize(
    ("damaged", "n_bytes"),
    [("", 0), ("config.json", 0), ("model.safetensors", 0), ("model.safetensors", 5000), ("tokenizer.json", 1)],
)
def test_a_model_that_cannot_be_loaded_is_one_line_and_leaves_nothing(
    tiny_model, tmp_path, monkeypatch, call, damaged, n_bytes
):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    model, output = tmp_path / "model", tmp_path / "result"
    if damaged:
        shutil.copytree(tiny_model, model)
        content = (model / damaged).read_bytes()
        (model / damaged).unlink()
        if n_bytes:
            (model / damaged).write_bytes(content[:n_bytes])
    code, out, err = call("generate", "-e", "transformers", "--model", model, "--suite", "mini", "--output", output)
    assert (code not in (0, None), out) == (True, "")
    assert "Traceback" not in err
    assert "model" in "".join(err.split())
    assert not output.exists()


@pytest.mark.models
@pytest.mark.parametrize("device", ["cuda:77", "cuda", "no-such-device"])
def test_a_missing_device_is_named(mini, tiny_model, device, monkeypatch):
    import torch

    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    if device == "cuda" and torch.cuda.device_count():
        pytest.skip("this machine has a GPU")
    with pytest.raises(EngineError, match=f"device {device} is not available here"):
        make_engine(mini, tiny_model, device=device)


@pytest.mark.models
def test_a_prompt_that_does_not_fit_is_refused_before_anything_is_asked(mini, tiny_model, tmp_path):
    sampling = Sampling(max_tokens=8000)
    engine = make_engine(mini, tiny_model, sampling=sampling)
    with pytest.raises(EngineError, match=r"the prompt of Q\d\d in trial 1 has \d+ tokens; .* more than the 8192"):
        generate(mini, engine, Setting("m", sampling=sampling), trials=1, output=tmp_path / "result")
    assert not (tmp_path / "result").exists()


@pytest.mark.parametrize("package", ["torch", "transformers"])
def test_a_missing_package_is_named(mini, monkeypatch, package):
    if package == "transformers":
        monkeypatch.setitem(sys.modules, "torch", SimpleNamespace())
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(EngineError, match=rf"needs {package}, .*pip install 'pfgen-fast\[transformers\]'"):
        make_engine(mini, "m")


@pytest.mark.parametrize(("option", "value"), [("batch_size", 0), ("dtype", "int7")])
def test_an_option_out_of_range_is_refused(mini, option, value):
    with pytest.raises(EngineError, match=f"{option}: expected"):
        make_engine(mini, "m", **{option: value})
