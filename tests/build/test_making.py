"""`suite make`: prompts become a suite; answers are requested once, and a prompt that fails stops no other."""

import csv
import json
import random

import pytest
from makers.fault_server import answering, refusing, serving
from pfgen_fast import Suite
from pfgen_fast.base.errors import BuildError
from pfgen_fast.build.making import _opening, read_prompts
from pfgen_fast.generation.engines.engine import Engine, run_async
from pfgen_fast.generation.generating import Generation
from pfgen_fast.generation.setting import Setting

PARTS = {
    "glace": ["La glace flotte", "sa densité est faible", "ses molécules prennent de la place", "elle remonte"],
    "ciel": ["Le ciel est bleu", "l'air diffuse la lumière bleue", "les ondes courtes dévient", "Rayleigh l'a montré"],
    "marées": ["La mer monte", "la Lune attire les océans", "le Soleil y ajoute sa force", "elle redescend"],
}
PROMPTS = (
    "Pourquoi la glace flotte-t-elle ?\n\nPourquoi le ciel est-il bleu ?\nUne bombe ?\nD'où viennent les marées ?\n"
)


def reply(request):
    """An answer of varied parts in French; one prompt is refused, and one model is unknown."""
    if request.body["model"] == "unknown":
        return refusing(404, "no such model")
    question = request.prompt
    if "bombe" in question:
        return refusing(400, "content policy violation (content_filter)")
    parts = next(parts for word, parts in PARTS.items() if word in question)
    chosen = random.Random(f"{request.body['model']}{request.body['seed']}{request.body['temperature']}")
    return answering(", ".join([parts[0], *chosen.choices(parts[1:], k=12)]) + ".")


@pytest.fixture
def make(call, tmp_path, monkeypatch):
    """Calls `suite make` for a file of prompts in a directory of its own."""
    monkeypatch.setattr("pfgen_fast.generation.engines.server_engine.ServerConnection.backoff", 0.001)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "prompts.txt").write_text(PROMPTS, encoding="utf-8")

    def call_make(*arguments):
        return call("suite", "make", "prompts.txt", "-o", "fr", *arguments)

    return call_make


def test_prompts_become_a_suite_with_a_card_and_a_config_to_edit(make, tmp_path):
    with serving(reply) as server:
        engine = ("-e", "openai", "--base-url", server.base_url, "-m", "org/a", "-m", "org/b", "-n", 30)
        code, out, _ = make(*engine, "--dry-run", "--json")
        assert (code, server.requests) == (0, [])
        assert [row["n_requests"] for row in json.loads(out)] == [4 + 4 * 16, 4 * 14]
        code, out, err = make(*engine, "--language", "fr", "--licence", "CC-BY-4.0")
        assert code == 3
        assert "\nerror: Q03, org/a: http://" in err
        assert err.startswith("note: refused request: Q03, org/a: HTTP 400: content policy")
        n_requests = len(server.requests)
        prompts = {request.body["messages"][0]["content"] for request in server.requests if "D'où" in request.prompt}
        assert len(prompts) > 2  # the first one, and two orders of examples
        assert "bombe" not in " ".join(prompts)

        suite = Suite.load("fr")
        assert [question.question_id for question in suite] == ["Q01", "Q02", "Q04"]
        assert {len(texts) for question in suite for texts in question.answers.values()} == {20}
        assert [sample.question for sample in suite.samples] == [question.question for question in suite]
        card = (tmp_path / "fr" / "README.md").read_text(encoding="utf-8")
        assert card.startswith("---\nlicense: CC-BY-4.0\nlanguage: fr\n---\n# fr\n")
        assert "| models | org/a, org/b (openai) |\n| answers | 90 different ones, temperature 0.7, 1 |\n" in card
        assert "fewer than 100 reference answers" in card
        assert f"| version | metadata hash {suite.metadata_hash} |\n" in card  # which suite pack compares
        assert (
            "| left out | Q03 ('Une bombe ?'): left out with 0 different answers of 30, none from org/a, org/b;" in card
        )
        assert "| reference answers | 20 for a question |" in card

        config = (tmp_path / "fr.toml").read_text(encoding="utf-8")
        assert config.count("\n# keywords = [{ t = ") == 3
        (tmp_path / "fr.toml").write_text(
            config.replace('suite = "fr"', 'suite = "fr"\nseed = "mine"'), encoding="utf-8"
        )
        (tmp_path / "fr" / "README.md").write_text("mine", encoding="utf-8")
        code, out, err = make(*engine, "--accept-keywords")
        assert len(server.requests) == n_requests
        assert "'Une bombe ?': not in fr.toml, so not asked; to take them in, delete that file" in err
        assert "note: no new suggestions, since fr.toml exists" in err
        assert all(question.keywords for question in Suite.load("fr"))
        assert 'seed = "mine"' in (tmp_path / "fr.toml").read_text(encoding="utf-8")
        assert (tmp_path / "fr" / "README.md").read_text(encoding="utf-8") == "mine"
        assert "suite: fr, README.md kept as it was edited\n" in out
        code, out, _ = make(*engine, "--dry-run")
        assert (code, out) == (0, "no requests: all answers exist\n")
        assert make(*engine[:-1], 45)[0] == 3  # only the further answers are requested
        assert len(server.requests) == n_requests + 3 * 15
        assert {len(question.answers["A"]) for question in Suite.load("fr")} == {30}  # the config follows the answers
        config = (tmp_path / "fr.toml").read_text(encoding="utf-8")
        (tmp_path / "fr.toml").write_text(config.replace("size = 30", "size = 25", 1), encoding="utf-8")
        err = make(*engine[:-1], 45)[2]
        assert "note: Q01: size (or select.size) in fr.toml is 25, as it was edited; its answers allow 30 ref" in err
        assert [len(question.answers["A"]) for question in Suite.load("fr")] == [25, 30, 30]


def test_the_next_model_answers_what_the_first_refuses_and_other_questions_keep_their_references(make):
    def refuses_ice(request):
        if "bombe" in request.prompt or "glace" not in request.prompt:
            return reply(request)
        if request.body["model"] == "org/a":
            return refusing(400, "content policy violation")
        return answering("Toujours la même.") if request.body["temperature"] == 1 else reply(request)

    with serving(refuses_ice) as server:
        engine = (
            "-e",
            "openai",
            "--base-url",
            server.base_url,
            "-m",
            "org/a",
            "-m",
            "org/b",
            "-n",
            40,
            "--examples",
            0,
        )
        assert make(*engine, "-q")[2].count("\n") == 4  # a model and a question once each, and a question left out
    assert {question.question_id: len(question.answers["A"]) for question in Suite.load("fr")} == {
        "Q01": 7,
        "Q02": 26,
        "Q04": 26,
    }


def test_a_single_prompt_has_no_examples(make, tmp_path):
    (tmp_path / "prompts.txt").write_text("Pourquoi le ciel est-il bleu ?", encoding="utf-8")
    with serving(reply) as server:
        arguments = ("-e", "openai", "--base-url", server.base_url, "-m", "org/a", "-n", 30, "--style", "ten words")
        assert make(*arguments, "--accept-keywords")[0] == 0
    systems = {request.body["messages"][0]["content"] for request in server.requests}
    assert systems == {"Answer the user's question in its language, in ten words."}
    assert len(Suite.load("fr")) == 1
    assert "# no suggested keywords: suggestions need refer" in (tmp_path / "fr.toml").read_text(encoding="utf-8")


def test_a_model_that_answers_nothing_is_named_after_three_questions(make, tmp_path):
    with serving(reply) as server:
        code, out, err = make("-e", "openai", "--base-url", server.base_url, "-m", "unknown", "-n", 30)
    assert (code, out, len(server.requests)) == (2, "", 3)
    assert "error: no answers: Q03, unknown: http://" in err
    assert "there is no such model" in err
    assert not (tmp_path / "fr").exists()
    assert not (tmp_path / "fr.toml").exists()


def test_weights_are_loaded_once_for_all_questions(mini):
    class Weights(Engine):
        n_closed = 0

        async def answers(self, requests):
            yield 0, None

        async def close(self):
            self.n_closed += 1

    class Local(Generation):
        def open(self, suite, *, loads=True):
            return Weights()

    with _opening(Local("vllm", Setting("org/a"))) as opened:
        engine = opened(mini.only(["Q01"]))
        run_async(engine.close())
        assert (opened(mini.only(["Q02"])), engine.n_closed) == (engine, 0)
    assert engine.n_closed == 1


def test_stored_answers_need_no_model_and_a_prompt_without_answers_is_left_out(make, tmp_path):
    rows = [
        {"question": question, "answer": f"{n} {word} {n % 7}" + " mot" * 60}
        for question, word in (
            ("Pourquoi la glace flotte-t-elle ?", "glace"),
            ("Pourquoi le ciel est-il bleu ?", "ciel"),
        )
        for n in range(30)
    ]
    rows += [{"question": "D'où viennent les marées ?", "answer": "Toujours la même."}] * 30
    rows += [{"question": "Une autre ?", "answer": "Une autre."}] * 2
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    (tmp_path / "answers.jsonl").write_text(lines, encoding="utf-8")
    code, _, err = make("-e", "replay", "--input", "answers.jsonl", "-m", "mine", "-n", 30)
    assert code == 3
    assert "note: passed over 2 answers to questions that are not asked: 'Une autre ?'\n" in err
    assert "error: Q03, mine: the input has no answer to the question\n" in err
    assert "error: Q04 ('D'où viennent les marées ?'): left out with 1 different answer of 30; change the pr" in err
    assert [len(question.answers["A"]) for question in Suite.load("fr")] == [20, 20]
    assert make("-e", "replay", "--input", "answers.jsonl", "-m", "mine", "-n", 30)[0] == 3  # no question is unknown
    assert "--engine ngram: takes answers from a suite; expected" in make("-e", "ngram")[2]
    assert "expected the name of a new directory" in make("-e", "replay", "-m", "mine", "-o", "..")[2]


def test_a_table_of_prompts_has_ids_samples_and_keywords(tmp_path):
    with open(tmp_path / "prompts.csv", "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["question_id", "question", "sample", "keywords"])
        writer.writerow(["Qa", "Why?", "Because.", "because|since"])
        writer.writerow(["", "How?", "", '[{"t": "so"}]'])
    assert read_prompts(tmp_path / "prompts.csv") == [
        {"id": "Qa", "question": "Why?", "sample": "Because.", "keywords": ({"t": "because|since"},)},
        {"question": "How?", "keywords": ({"t": "so"},)},
    ]


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("a.txt", "\n \n", "a.txt: no prompts; expected one in each line, or a table with a column 'question'"),
        ("a.jsonl", '{"prompt": "Why?"}\n', "a.jsonl, line 1: unknown key 'prompt'"),
        ("a.jsonl", '{"category": "x"}\n', "a.jsonl, line 1: the key 'question' is missing"),
        ("a.txt", "Why?\n\nHow?\n Why?\n", "a.txt, line 4: the same question as in a.txt, line 1; remove one"),
        ("a.jsonl", '{"question": 7}\n', "a.jsonl, line 1: question: expected a string, not 7"),
        ("a.jsonl", '{"question": "Why?", "keywords": [{"t": "("}]}\n', "a.jsonl, line 1: keywords[0]"),
        ("a.jsonl", '{"question": "Why?", "id": "../x"}\n', "a.jsonl, line 1: id: expected up to 64 letters"),
    ],
)
def test_invalid_prompts_are_a_sentence_before_any_request(make, call, tmp_path, name, content, sentence):
    (tmp_path / name).write_text(content, encoding="utf-8")
    with serving(reply) as server:
        code, out, err = call(
            "suite", "make", name, "-e", "openai", "--base-url", server.base_url, "-m", "org/a", "-o", "fr"
        )
    assert (code, out, server.requests) == (2, "", [])
    assert err.startswith(f"error: {sentence}")
    assert err.count("\n") == 1
    with pytest.raises(BuildError):
        read_prompts(tmp_path / "missing.txt")
