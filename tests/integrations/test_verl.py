"""The reward of verl: its own loader, reward workers and dataset, with the scores of one process, bit for bit."""

import asyncio
import re
from pathlib import Path

import pytest
from makers.documented import DOCS
from makers.engines import integration, run_python_blocks
from pfgen_fast import PfgenError, Reward, TrialsError
from pfgen_fast.generation.prompts import make_tasks
from pfgen_fast.integrations.verl import compute_score, compute_score_async, compute_score_batched, write_dataset

PARTS = ("fluency", "truthfulness", "helpfulness")
PAGE = DOCS / "integrations" / "verl.md"


def test_a_reward_is_the_score_of_what_would_be_kept_of_the_answer_or_one_of_its_parts(scorer):
    answers = ["Ice is less dense than water.", "Because.", ""]
    table = scorer.score("Q07", answers)
    good, bad, _ = table.average.tolist()
    question = scorer.suite["Q07"].question
    assert compute_score("pfgen", f"Well. A: {answers[0]} Q: And", "Q07", suite="mini") == good
    assert compute_score("pfgen", "Because.\n\nQ:", question, {}, suite="mini", mode="completion") == bad
    batch = ["pfgen"] * 3, answers, ["Q07"] * 3
    assert compute_score_batched(*batch, suite="mini") == [good, bad, 0.0]
    outcome = compute_score_batched(*batch, suite="mini", metric="fluency", parts=True)
    expected = {"score": table.fluency.tolist()} | {part: table[part].tolist() for part in PARTS}
    assert outcome == [{name: column[row] for name, column in expected.items()} for row in range(3)]


def test_a_shape_and_references_come_from_the_settings_and_the_row(scorer, tmp_path):
    good = "Ice is less dense than water, because its molecules form an open lattice."
    reward = Reward("mini", "recommended")
    answers = [f"A: {good}", f"A: {good} {good}", f"<think>{good}"]
    table = reward.details("Q07", [good, f"{good} {good}", ""], finished=[True, True, False])
    batch = ["pfgen"] * 3, answers, ["Q07"] * 3
    outcome = compute_score_batched(*batch, suite="mini", shape="recommended", parts=True)
    assert [row["score"] for row in outcome] == table["reward"].tolist()
    assert [row["unfinished"] for row in outcome] == [1.0, 1.0, 0.0]
    assert [row["repetition"] for row in outcome] == table["repetition"].tolist()
    options = {"suite": "mini", "shape": "recommended"}
    assert compute_score("pfgen", answers[0], "Q07", {"finished": False}, **options) == 0.0
    path = tmp_path / "copying.toml"
    path.write_text('[[shape]]\npart = "copying"\nrun = 10\nfrom_share = 0.5\n', encoding="utf-8")
    assert compute_score("pfgen", good, "Q07", {"prompt": good}, suite="mini", shape=str(path)) == 0.0
    with pytest.raises(TrialsError, match=r"extra_info\[0\]: the key 'prompt' is missing"):
        compute_score("pfgen", good, "Q07", suite="mini", shape=str(path))
    assert compute_score("pfgen", "A: It floats.", "", {"references": ["It floats."]}, metric="exact_match") == 1.0
    with pytest.raises(TrialsError, match=r"extra_info\[0\]: the key 'references' is missing"):
        compute_score("pfgen", "A: It floats.", "", metric="chrf")


def test_arguments_without_a_reward_are_one_clear_sentence(tmp_path):
    path = tmp_path / "group.toml"
    path.write_text('[[shape]]\npart = "group_relative"\nhow = "rank"\n', encoding="utf-8")
    with pytest.raises(TrialsError, match=r"questions\[0\]: .*Q77"):
        compute_score("pfgen", "a", "Q77", suite="mini")
    with pytest.raises(TrialsError, match=r"extra_info\[0\]: the key 'index' is missing"):
        compute_score("pfgen", "a", "Q07", suite="mini", shape=str(path))
    group = ["pfgen"] * 2, ["A: It floats.", "A: Ice"], ["Q07"] * 2, [{"index": 3}] * 2
    assert compute_score_batched(*group, suite="mini", shape=str(path)) == [1.0, 0.0]
    infos = [*group[3], {}]
    lenient = compute_score_batched(
        *(rows + rows[:1] for rows in group[:3]), infos, suite="mini", shape=str(path), on_error="zero"
    )
    assert lenient == [1.0, 0.0, 0.0]
    settings = {"suite": "mini", "on_error": "zero"}
    assert set(compute_score("pfgen", None, "Q07", parts=True, **settings).values()) == {0.0}  # GDPO trains with parts
    assert compute_score_batched(["pfgen"] * 2, [None, "A: It floats."], ["Q07", "Q77"], **settings) == [0.0, 0.0]
    assert asyncio.run(compute_score_async("pfgen", "a", "Q77", **settings)) == 0.0
    with pytest.raises(PfgenError, match="unknown mode 'chatty'; expected one of completion, qa, chat"):
        compute_score("pfgen", "a", "Q07", suite="mini", mode="chatty")
    with pytest.raises(PfgenError, match="unknown metric 'length'; expected one of score, fluency, truth"):
        compute_score("pfgen", "a", "Q07", suite="mini", metric="length")
    with pytest.raises(
        PfgenError, match="suite: expected a suite"
    ):  # ids of two suites are often the same, so none is taken by itself
        compute_score("pfgen", "a", "Q07")


@pytest.mark.parametrize("mode", ["completion", "qa", "chat"])
def test_a_dataset_has_the_prompts_of_generate(mini, tmp_path, mode):
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "train.parquet"
    assert write_dataset(path, "mini", mode, trials=2, num_examples=3, data_source="mine") == 16
    rows = parquet.read_table(path).to_pylist()
    tasks = [task for trial in (1, 2) for task in make_tasks(mini, trial, mode=mode, num_examples=3)]
    assert [row["prompt"] for row in rows] == [
        list(task.prompt.messages or [{"role": "user", "content": task.prompt.text}]) for task in tasks
    ]
    assert [row["reward_model"] for row in rows] == [
        {"style": "rule", "ground_truth": task.question_id} for task in tasks
    ]
    assert [row["extra_info"] for row in rows] == [
        {"index": index, "question": task.question, "trial": task.trial} for index, task in enumerate(tasks)
    ]
    assert {(row["data_source"], row["env_class"]) for row in rows} == {("mine", "mine")}
    assert [row["reward_spec"] for row in rows] == [{"ground_truth": task.question_id} for task in tasks]


@pytest.fixture(scope="module")
def verl(tiny_model):
    """The configuration of verl's trainer, with the options of the page and others.

    From the file into which verl has resolved it, because Hydra 1.3 and lighteval need different versions of antlr.
    """
    omegaconf, package = integration("omegaconf").OmegaConf, integration("verl")
    created = omegaconf.load(Path(package.__file__).parent / "trainer" / "config" / "_generated_ppo_trainer.yaml")
    (block,) = re.findall(r"```sh\n(python .*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)
    shown = [option.removesuffix("\\").strip().strip('"').lstrip("+") for option in block.splitlines()[1:]]
    shown = [option.replace("my-suite", "mini") for option in shown]
    assert len(shown) == 4

    def configured(*options: str):
        more = [option for line in shown for option in re.findall(r"[\w.]+=(?:\{.*\}|\S+)", line)]
        return omegaconf.merge(
            created, omegaconf.from_dotlist([*more, f"actor_rollout_ref.model.path={tiny_model}", *options])
        )

    return configured


def make_batch(verl_config, tiny_model: Path, suite, tmp_path: Path, monkeypatch):
    """Completions for the first prompts of a dataset that verl itself has read, with the texts it would decode."""
    import datasets
    import torch
    from transformers import AutoTokenizer
    from verl import DataProto
    from verl.utils.dataset.rl_dataset import RLHFDataset, collate_fn

    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    write_dataset(tmp_path / "train.parquet", suite, trials=1, num_examples=2)
    tokenizer = AutoTokenizer.from_pretrained(tiny_model)
    dataset = RLHFDataset(str(tmp_path / "train.parquet"), tokenizer, verl_config.data)
    questions = [row["reward_model"]["ground_truth"] for row in map(dataset.__getitem__, range(len(dataset)))]
    assert questions == [question.question_id for question in suite]
    texts = [f"A: {question.answers['A'][row]}"[: 20 * row] for row, question in enumerate(suite)]
    ids = [tokenizer(text)["input_ids"] for text in texts]
    longest = max(map(len, ids))
    data = DataProto.from_single_dict(collate_fn([dataset[row] for row in range(len(dataset))]))
    padding = [[tokenizer.pad_token_id] * (longest - len(row)) for row in ids]
    data.batch["responses"] = torch.tensor([row + pad for row, pad in zip(ids, padding, strict=True)])
    data.batch["prompts"] = torch.zeros(len(ids), 3, dtype=torch.long)
    data.batch["attention_mask"] = torch.tensor([[1] * (3 + len(row)) + [0] * (longest - len(row)) for row in ids])
    kept = [tokenizer.decode(row, skip_special_tokens=True).removeprefix("A:").strip() for row in ids]
    return tokenizer, data, questions, kept


@pytest.mark.integrations
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("manager", "function"),
    [
        *((name, "compute_score") for name in ("naive", "dapo", "gdpo", "rate_limited")),
        ("naive", "compute_score_async"),
    ],
)
def test_reward_workers_of_verl_give_the_scores_of_one_process(
    verl, mini, tiny_model, tmp_path, monkeypatch, manager, function
):
    from verl.experimental.reward_loop.reward_loop import RewardLoopWorker

    config = verl(f"reward.reward_manager.name={manager}", f"reward.custom_reward_function.name={function}")
    _, data, questions, kept = make_batch(config, tiny_model, mini, tmp_path, monkeypatch)

    async def rewarded():
        return await RewardLoopWorker(config).compute_score_batch(data)

    outcome = asyncio.run(rewarded())
    table = Reward("mini", "recommended").details(questions, kept)
    assert [row["reward_score"] for row in outcome] == table["reward"].tolist()
    assert len({row["reward_score"] for row in outcome}) > 4
    for part in PARTS:
        assert [row["reward_extra_info"][part] for row in outcome] == table[part].tolist()


@pytest.mark.integrations
@pytest.mark.filterwarnings("ignore")
def test_the_batch_manager_of_verl_gives_the_same(verl, mini, scorer, tiny_model, tmp_path, monkeypatch):
    integration("verl")
    from verl.workers.reward_manager.batch import BatchRewardManager

    tokenizer, data, questions, kept = make_batch(verl(), tiny_model, mini, tmp_path, monkeypatch)
    manager = BatchRewardManager(tokenizer, 0, compute_score_batched, suite="mini", parts=True)
    outcome = manager(data, return_dict=True)
    expected = scorer.reward(questions, kept).tolist()
    assert outcome["reward_extra_info"]["score"] == expected
    assert outcome["reward_tensor"].sum(dim=1).tolist() == pytest.approx(expected)


@pytest.mark.integrations
def test_the_documented_examples_run(tmp_path, monkeypatch):
    integration("verl")
    monkeypatch.chdir(tmp_path)
    assert run_python_blocks(PAGE) == 2
    assert integration("pyarrow.parquet").read_table("train.parquet").num_rows == 80
