"""A run's folder: its name, the failures it survives, and who may write to it."""

import contextlib
import hashlib
import json
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from makers import published
from makers.effort import examples
from makers.runs import files_below
from pfgen_fast import Generation, PfgenError, Suite, TrialsError
from pfgen_fast.base.errors import EngineError
from pfgen_fast.generation import setting
from pfgen_fast.generation.run_writer import MAX_TRIALS, config_hash, config_line, run_folder, writing_run
from pfgen_fast.runs.trials import Trials

CONFIG = {"engine": "fake", "mode": "qa", "model": "org/m", "top_p": None}
EDITED_BY_HAND = {
    "pfnet/plamo-100b/b181032", "deepseek-ai/DeepSeek-V3/4a38349", "openai/gpt-4o/5e1e9f4", "system/ground-truth",
}  # fmt: skip
MOVED = "anthropic/claude-opus-4-20250514/2dafa10"
"""The hash is right, but the model's folder has a longer name than the configuration."""


@published.needs_published_runs
def test_published_folders_follow_from_their_configuration():
    """All folders that were not edited by hand: 12 of 17 completely, and one more by its hash."""
    followed = set()
    for path in (published.FOLDER / "result").rglob("config.json"):
        config = json.loads(path.read_bytes())
        name = path.parent.relative_to(published.FOLDER / "result").as_posix()
        if name in EDITED_BY_HAND:
            assert config_hash(config) != path.parent.name
            continue
        assert config_line(config).encode() + b"\n" == path.read_bytes()
        assert config_hash(config) == path.parent.name
        if name != MOVED:
            assert run_folder(Path("result"), config) == Path("result", name)
            followed.add(name)
    assert len(followed) == 12
    # One of the edits: the model was renamed.
    edited = json.loads((published.FOLDER / "result/deepseek-ai/DeepSeek-V3/4a38349/config.json").read_bytes())
    assert config_hash({**edited, "model": "deepseek-chat"}) == "4a38349"


def test_a_configuration_is_one_line_with_sorted_keys():
    line = config_line({"model": "m", "stop": ["Q:", "\n\n"], "top_k": None, "engine": "é", "temperature": 1.0})
    assert line == '{"engine": "é", "model": "m", "stop": ["Q:", "\\n\\n"], "temperature": 1.0}'
    assert config_hash({"a": 1}) == "e4ad4da"  # printf '{"a": 1}' | sha1sum


@pytest.mark.parametrize(("model", "folder"), [
    ("org/model", "org/model"), ("llama3:8b", "llama3:8b"), ("/data/step-7", "data/step-7"),
    ("../../etc", "etc"), ("./a//b/", "a/b"), ("a\\b", "a/b"), ("モデル", "モデル"),
])  # fmt: skip
def test_the_folder_of_a_model_stays_below_the_root(model, folder):
    assert run_folder(Path("result"), {"model": model}).parent == Path("result", folder)


@pytest.mark.parametrize("model", ["", "/", "..", " ", "a\nb", "a\x1b[31m", "\u202eabc", "a\x00"])
def test_a_model_that_cannot_be_a_folder_is_refused(model):
    with pytest.raises(EngineError, match="model: expected a name that can be a folder") as caught:
        run_folder(Path("result"), {"model": model})
    assert caught.value.args[0].isprintable()


def fill(folder, suite, answers):
    """Writes the missing ones of the answers, each a trial and a question; returns those that were missing."""
    asked = []
    with writing_run(folder, CONFIG, suite) as writer:
        for trial, question in answers:
            if question in writer.missing(trial):
                writer.add(trial, question, f"{trial} {question}")
                asked.append((trial, question))
    return asked


@examples(50)
@given(data=st.data())
def test_a_cut_at_any_byte_does_not_change_the_final_files(tmp_path_factory, mini, data):
    tmp_path = tmp_path_factory.mktemp("cut")
    answers = data.draw(st.permutations([(trial, question.question) for trial in (1, 2) for question in mini]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SOURCE_DATE_EPOCH", "1700000000")
        fill(tmp_path / "whole", mini, answers)
        n_before = data.draw(st.integers(0, len(answers)))
        fill(tmp_path / "cut", mini, answers[:n_before])
        unfinished = tmp_path / "cut" / ".unfinished.jsonl"
        lost = []
        if unfinished.exists():
            content = unfinished.read_bytes()
            n_bytes = data.draw(st.integers(0, len(content)))
            unfinished.write_bytes(content[:n_bytes])
            lost = [json.loads(line) for line in content[content[:n_bytes].rfind(b"\n") + 1 :].splitlines()]
        asked = fill(tmp_path / "cut", mini, answers)
    assert files_below(tmp_path / "cut") == files_below(tmp_path / "whole")
    # A line without a line break counts as torn, even if it is otherwise complete.
    finished_before = {(entry["trial"], entry["question"]) for entry in lost}
    assert set(asked) <= set(answers[n_before:]) | finished_before
    assert len(set(asked)) == len(asked)


def test_damaged_lines_of_an_unfinished_trial_are_asked_again(tmp_path, mini):
    run = tmp_path / "run"
    answers = [(1, question.question) for question in mini]
    fill(run, mini, answers[:3])
    with open(run / ".unfinished.jsonl", "ab") as file:
        entry = {"question": next(iter(mini)).question, "answer": "", "timestamp": ""}
        impossible = [json.dumps({"trial": trial, **entry}).encode() for trial in (-1, 0, MAX_TRIALS + 1, 10**300)]
        file.writelines(line + b"\n" for line in (b"\xff", b"[]", b'{"trial": "1"}', b"{}", *impossible))
    assert fill(run, mini, answers) == answers[3:]
    assert sorted(files_below(run)) == ["config.json", "trial_001.jsonl"]


def test_an_empty_folder_is_removed_unless_it_existed_before(tmp_path, mini):
    with contextlib.suppress(EngineError), writing_run(tmp_path / "a" / "b" / "c", CONFIG, mini):
        assert (tmp_path / "a" / "b" / "c").is_dir()
        raise EngineError("wrong key")
    assert not list(tmp_path.iterdir())
    (tmp_path / "a").mkdir()
    with writing_run(tmp_path / "a" / "b", CONFIG, mini):
        pass
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_a_folder_of_something_else_is_refused_and_stays_as_it_is(tmp_path, mini, make_suite):
    run = tmp_path / "run"
    fill(run, mini, [(1, question.question) for question in mini])
    before = files_below(run)
    other = Suite.load(make_suite({"question": "a?"}))
    with pytest.raises(EngineError, match=r"trial_001\.jsonl: has other questions than suite"):
        fill(run, other, [(1, "a?")])
    with pytest.raises(EngineError, match="has other parameters than"), writing_run(run, {"model": "other"}, mini):
        pass
    assert files_below(run) == before
    (run / "trial_001.jsonl").write_text("{")
    with pytest.raises(TrialsError, match="line 1"):
        fill(run, mini, [(1, mini["Q01"].question)])


def test_a_packed_run_without_its_trials_is_complete_or_refused(tmp_path, mini):
    run = tmp_path / "run"
    fill(run, mini, [(trial, question.question) for trial in (1, 2) for question in mini])
    with writing_run(run, CONFIG, mini) as writer:
        packed = writer.pack()
    for path in run.glob("trial_*"):
        path.unlink()
    with writing_run(run, CONFIG, mini) as writer:
        assert writer.missing(1) == writer.missing(2) == []
        assert writer.pack() == packed
        with pytest.raises(EngineError, match="has 2 trials, but its trial_NNN"):
            writer.missing(3)


def test_a_folder_in_use_a_bad_timestamp_and_a_file_in_the_way_are_named(tmp_path, mini, monkeypatch):
    message = "another process is generating into this folder"
    with writing_run(tmp_path / "run", CONFIG, mini), pytest.raises(EngineError, match=message):
        fill(tmp_path / "run", mini, [])
    (tmp_path / "file").write_text("")
    with pytest.raises(PfgenError, match="file/run: cannot be created"):
        fill(tmp_path / "file" / "run", mini, [])
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "yesterday")
    with pytest.raises(EngineError, match="SOURCE_DATE_EPOCH: expected seconds since 1970, not 'yesterday'"):
        fill(tmp_path / "run", mini, [])
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


# ---- Runs get the folders of the published runs with the same parameters: the options that lead to each kind of them


PUBLISHED = [
    ("01-ai/Yi-1.5-34B-Chat/39ffa65", "-e vllm"),
    ("01-ai/Yi-1.5-34B-Chat/868c125", "-e vllm --mode qa"),
    ("SakanaAI/TinySwallow-1.5B-Instruct/5e03054", "-e vllm --mode chat"),
    ("microsoft/phi-1/3b01d51", "-e vllm --examples 10"),
    ("abeja/ABEJA-Qwen2.5-32b-Japanese-v0.1/774318f", "-e vllm --dtype float16"),
    ("Fugaku-LLM/Fugaku-LLM-13B/f6c131f", "-e hf"),
    ("weblab-GENIAC/Tanuki-8x8B-dpo-v1.0/4f54fa3", "-e hf --mode qa"),
    ("Qwen/Qwen3-8B/3335bd5", "-e hf --mode chat"),
    ("Qwen/Qwen3-8B/04ac570", "-e hf --mode chat --enable-thinking --temperature 0.6 --top-p 0.95"),
    ("Qwen/Qwen3-235B-A22B-FP8/5df0f70", "-e hf --mode chat --enable-thinking"),
    ("Qwen/Qwen3-30B/d5b12d3", "-e hf --mode qa --enable-thinking"),
    ("Qwen/Qwen3-0.6B/689490a", "-e openai-api --mode qa --top-p none"),
    ("Qwen/Qwen3-0.6B/1cd48a3", "-e openai-api --mode chat --top-p none"),
    ("Qwen/Qwen3-32B/ada306e", "-e openai-api --temperature 0.7 --top-p none"),
    ("mlx-community/plamo-2-1b/5765e3a", "-e openai-api -T0 --top-p none"),
    ("Qwen/Qwen3-8B/667d843", "-e openai-api --mode chat --disable-thinking"),
    ("Qwen/Qwen3-235B-A22B/89946a4", "-e openai-api --disable-thinking"),
    ("chatgpt-4o-latest/f029db6", "-e openai-api --mode qa --enable-thinking"),
]


JAPANESE = {"question": "なぜ？"}
"""A question in the language of the published suite, because the texts of the prompts depend on it."""


@pytest.fixture
def nothing_is_loaded(monkeypatch):
    """Engines that need a key or packages for models open without."""
    monkeypatch.setitem(sys.modules, "vllm", None)
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.setattr(setting, "_has_template", lambda *weights: False)
    monkeypatch.setenv("OPENAI_API_KEY", "key")


def folder_of(call, suite, options):
    arguments = options.replace("-T0", "--temperature 0").split()
    code, out, err = call("sweep", *arguments, "--suite", suite, "--dry-run", "--json")
    assert (code, err) == (0, "")
    ((row,),) = [json.loads(out)]
    return Path(row["run"]).as_posix()


@pytest.mark.usefixtures("nothing_is_loaded")
@pytest.mark.parametrize(("folder", "options"), PUBLISHED)
def test_the_options_of_a_published_run_lead_to_its_folder(call, make_suite, folder, options):
    model = folder.rpartition("/")[0]
    assert folder_of(call, make_suite(JAPANESE), f"{options} -m {model}") == f"result/{folder}"


def digits_of(config):
    return hashlib.sha1(json.dumps(config, sort_keys=True, ensure_ascii=False).encode()).hexdigest()[:7]


@pytest.mark.usefixtures("nothing_is_loaded")
@pytest.mark.parametrize("engine", ["vllm", "hf"])
def test_a_chat_template_and_a_prefix_are_hashed_as_the_published_script_does(call, make_suite, tmp_path, engine):
    suite = make_suite(JAPANESE)
    template = "{% for m in messages %}“{{ m['content'] }}”\n{% endfor %}\n"
    (tmp_path / "chat.jinja").write_text(template, encoding="utf-8")
    options = f"-e {engine} -m org/m --mode qa --path /weights --trust-remote-code --prefix Hi.\\n --stop <|end|>"
    config = {
        "temperature": 1.0, "top_p": 0.98, "engine": engine, "model": "org/m", "mode": "qa", "num_examples": 20,
        "stop": ["Q:", "<|end|>"], "max_tokens": 300, "prefix": "Hi.\\n",  # as it was given, with a backslash
        "chat_template": template,
    }  # fmt: skip
    folder = folder_of(call, suite, f"{options} --chat-template {tmp_path / 'chat.jinja'}")
    assert folder == f"result/org/m/{digits_of(config)}"
    if engine == "vllm":
        more = f" --chat-template {tmp_path / 'chat.jinja'} --tensor-parallel 2"
        assert folder_of(call, suite, options + more) == f"result/org/m/{digits_of(config)}"


# ---- Runs of some questions: the same prompts and answers as in a run of all, in a separate folder, and no result


NGRAM = ("generate", "--engine", "ngram", "--suite", "mini", "--trials", "2")


def printed_folder(out):
    return out.splitlines()[0].split(": ")[1]


def answers(folder):
    trials = Trials.read(f"{folder}/trials.jsonl.xz")
    return set(zip(trials.questions, trials.answers, strict=True))


def test_some_questions_are_a_separate_run_however_they_are_named(call, refused, mini, tmp_path):
    _, all_of_them, _ = call(*NGRAM, "-o", tmp_path)
    code, some, err = call(*NGRAM, "-o", tmp_path, "--questions", "Q01,Q02")
    assert code == 0
    assert some.startswith("4 new answers: ")
    assert "1 run: 2 of 8 questions\n" in some
    assert "note: a score of some questions is not a result of the suite" in err
    whole, part = printed_folder(all_of_them), printed_folder(some)
    assert whole != part
    assert sorted(path.parent for path in tmp_path.rglob("result.json")) == [tmp_path.joinpath(whole)]
    names = {mini["Q01"].question, mini["Q02"].question}
    assert answers(part) == {(question, answer) for question, answer in answers(whole) if question in names}
    assert json.loads((tmp_path / part / "config.json").read_text())["questions"] == ["Q01", "Q02"]
    for options, folder in (("--limit=2", part), ("--questions=Q0[12]", part), ("--questions=Q*", whole)):
        _, again, _ = call(*NGRAM, "-o", tmp_path, options)
        assert again.startswith("0 new answers: ")
        assert printed_folder(again) == folder
    assert (
        refused(*NGRAM, "-o", tmp_path / "other", "--questions", "Q7")
        == "error: unknown question 'Q7' in suite mini; nearest: 'Q07'\n"
    )
    assert not (tmp_path / "other").exists()


@pytest.mark.parametrize("engine", ["ground-truth", "reference", "replay"])
def test_stored_answers_serve_some_questions(mini, tmp_path, engine):
    rows = [{"question": question.question, "answer": "So."} for question in mini]
    (tmp_path / "in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    options = {"input": tmp_path / "in.jsonl"} if engine == "replay" else {}
    generation = Generation.of(engine, model="me", options=options)
    generated = generation.run(mini.only(["Q07"]), trials=1, output=tmp_path / "result")
    assert Trials.of(generated.run).questions == [mini["Q07"].question]
