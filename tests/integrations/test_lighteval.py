"""The metric and the tasks for lighteval, with its real classes."""

from importlib import import_module

import pytest
from makers.documented import documented_example
from makers.engines import integration
from pfgen_fast import PfgenError, TrialsError
from pfgen_fast.generation.prompts import make_tasks

pytestmark = pytest.mark.integrations
integration("lighteval.metrics.utils.metric_utils")
Doc = integration("lighteval.tasks.requests").Doc
ModelResponse = integration("lighteval.models.model_output").ModelResponse
LightevalTask = integration("lighteval.tasks.lighteval_task").LightevalTask
pfgen = import_module("pfgen_fast.integrations.lighteval")

SCORES = ("average", "fluency", "truthfulness", "helpfulness")


def document(**specific):
    return Doc(query="Why?", choices=[""], gold_index=0, id="3", task_name="pfgen|0", specific=specific or None)


def computed(doc, *texts, mode="qa"):
    return pfgen.pfgen_metric("mini", mode).compute_sample(doc=doc, model_response=ModelResponse(text=list(texts)))


def test_the_scores_of_an_answer_are_those_of_the_scorer_bit_for_bit(mini, scorer):
    for question in mini:
        answer = question.answers["B"][3]
        table = scorer.score(question.question_id, [answer])
        expected = {name: float(table[name][0]) for name in SCORES}
        assert computed(document(question_id=question.question_id), f"Well. A: {answer}\nQ: And") == expected
        assert computed(document(question_id=question.question), answer, mode=None) == expected


def test_several_answers_have_their_means_and_reasoning_is_not_scored(mini, scorer):
    answers = list(mini["Q07"].answers["A"][:4])
    table = scorer.score("Q07", answers)
    sample = computed(document(question_id="Q07"), *answers)
    assert sample == {name: float(table[name].mean()) for name in SCORES}
    response = ModelResponse(text=["<think>x</think> Ice floats."], text_post_processed=["Ice floats."])
    sample = pfgen.pfgen_metric("mini").compute_sample(doc=document(question_id="Q07"), model_response=response)
    assert sample["average"] == 0.02259


@pytest.mark.parametrize(
    ("doc", "texts", "message"),
    [
        (document(), ["x"], r"^document '3' of pfgen\|0: no 'question_id' in its 'specific'$"),
        (document(question_id="Q77"), ["x"], r"^document '3' of pfgen\|0: unknown question 'Q77'"),
        (document(question_id="Q07"), [], r"^document '3' of pfgen\|0: no answer$"),
    ],
)
def test_documents_that_do_not_fit_are_one_sentence(doc, texts, message):
    with pytest.raises(TrialsError, match=message):
        computed(doc, *texts)


@pytest.mark.parametrize("mode", ["completion", "qa"])
def test_a_task_has_the_prompts_of_generate(mini, mode):
    config = pfgen.pfgen_task(mini, mode, trials=2, num_examples=3)
    docs = LightevalTask(config).eval_docs()
    tasks = [task for trial in (1, 2) for task in make_tasks(mini, trial, mode=mode, num_examples=3)]
    assert [doc.query for doc in docs] == [
        task.prompt.text if mode == "completion" else task.prompt.messages[0]["content"] for task in tasks
    ]
    assert [doc.specific for doc in docs] == [{"question_id": t.question_id, "trial": t.trial} for t in tasks]
    assert list(config.stop_sequence) == (["Q:", "\n\n"] if mode == "completion" else ["Q:"])
    with pytest.raises(PfgenError, match="lighteval has no system message for each document; use 'qa'"):
        pfgen.pfgen_task("mini", "chat")
    with pytest.raises(PfgenError, match="unknown mode 'chatty'"):
        pfgen.pfgen_task("mini", "chatty")


def test_the_examples_of_the_page_run(capsys):
    names = {}
    exec(documented_example("TASKS_TABLE = ["), names)
    assert [task.name for task in names["TASKS_TABLE"]] == ["pfgen_qa", "pfgen"]
    exec(documented_example("metric.compute_sample"), {})
    assert "'average': 0." in capsys.readouterr().out
