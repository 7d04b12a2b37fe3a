"""Makes a suite from prompts: models answer each question often, and the answers become a config, which is built.

Each question has runs of its own, so an answer is never requested again, whatever becomes of the other prompts.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from ..base.errors import BuildError, EngineError, SuiteError
from ..base.file_reading import read_text
from ..base.file_writing import write_whole
from ..base.untrusted_json import Fault, checked
from ..base.untrusted_text import counted, few_names, in_one_line
from ..generation.engines.engine import Engine, run_async
from ..generation.engines.without_model import stored_answers
from ..generation.events import Events
from ..generation.generating import Generated, Generation, generate
from ..runs.trials import Trials, single_trials
from ..suite.questions import Question, Sample, language_of
from ..suite.suite import Suite
from ..tables.formats import is_table, table_rows
from .build_config import config_of, config_table, question_table, read_config
from .made_config import config_text, n_references, with_accepted_rules, with_sizes
from .pipeline import Built, build_suite
from .selection import NO_RULE, SuggestedRule, suggest_rule
from .suite_writing import check_place

STYLE = "one paragraph"
"""The default form of the first answers, which are the examples of further prompts."""

_LEAST_SHARE = 0.5  # of the answers wanted from models that do not fail, below which a question is left out
_FAILURES_AT_FIRST = 3  # questions without an answer, after which a model is not asked the others
_UNKNOWN_SAMPLE = "…" * 100  # stands for an answer of 100 tokens
_EXAMPLES = "in its language, in the style and length of the examples."


class _Step(NamedTuple):
    """Requests of one generation to some questions."""

    generation: Generation
    trials: int  # the number of answers to each question
    folder: Path  # the directory of the runs of all questions
    questions: Sequence[Question]
    may_fail: bool = False  # whether all questions may fail, since an earlier model failed, too

    def root(self, question: Question) -> Path:
        """The directory of the runs of a question, named after its text."""
        return self.folder / hashlib.sha1(question.question.encode()).hexdigest()[:8]


def read_prompts(path: Path) -> list[dict[str, Any]]:
    """The questions in a text with one prompt per line, or in a table, as tables of a config.

    A table has a column `question`, and optionally `id`, `category`, `note`, `sample`, `keywords` and other keys of a
    question. In CSV, keywords are a pattern, or a list of rules in JSON.

    Raises:
        BuildError: The file has no prompts, or one is invalid or occurs twice.
        TrialsError: The table cannot be read.
    """
    if is_table(path):
        rows = [(where, _prompt(row)) for where, row in table_rows(path)]
    else:
        lines = enumerate(read_text(path, error=BuildError).split("\n"), start=1)
        rows = [(f"{path}, line {number}", {"question": line.strip()}) for number, line in lines if line.strip()]
    if not rows:
        raise BuildError(f"{path}: no prompts; expected one in each line, or a table with a column 'question'")
    places: dict[str, str] = {}
    prompts = [checked(row, question_table, where, error=BuildError) for where, row in rows]
    for (where, _), prompt in zip(rows, prompts, strict=True):
        if (first := places.setdefault(prompt["question"], where)) != where:
            raise BuildError(f"{where}: the same question as in {first}; remove one of them")
    return prompts


def _prompt(row: Mapping[str, Any]) -> dict[str, Any]:
    prompt = {"id" if key == "question_id" else key: value for key, value in row.items() if value not in (None, "")}
    keywords = prompt.get("keywords")
    if isinstance(keywords, str):
        with contextlib.suppress(ValueError):  # a pattern
            prompt["keywords"] = json.loads(keywords)
        if not isinstance(prompt["keywords"], list):
            prompt["keywords"] = [{"t": keywords}]
    return prompt


@dataclass
class SuiteMaker:
    """Makes a suite from prompts.

    Args:
        prompts: A file; see `read_prompts`.
        generations: Models and settings that share the answers evenly; the first one, or the next if it fails, also
            gives an answer to each question without a `sample`, which is an example in further prompts, and the sample
            answer of the suite.
        output: The directory of the suite. The config `OUTPUT.toml` and the directory `OUTPUT.work` are next to it.
        answers: The number of answers to each question, from all generations together.
        style: The form of the first answers, such as "three paragraphs of about 500 words".

    Raises:
        BuildError: A prompt is invalid, or the output has files that are not part of a suite.
    """

    prompts: Path
    generations: Sequence[Generation]
    output: Path
    answers: int = 300
    style: str = STYLE
    n_answers: dict[str, int] = field(default_factory=dict, init=False)  # different ones, by question with enough
    rules: dict[str, SuggestedRule] = field(default_factory=dict, init=False)  # suggestions for a new config
    problems: list[str] = field(default_factory=list, init=False)  # one sentence each
    left_out: list[str] = field(default_factory=list, init=False)  # one sentence for each question without enough
    notes: list[str] = field(default_factory=list, init=False)  # one sentence each

    def __post_init__(self) -> None:
        tables = read_prompts(self.prompts)
        if self.output.name in ("", ".."):
            raise BuildError(f"{self.output}: expected the name of a new directory for the suite")
        self.config_path = self.output.with_name(f"{self.output.name}.toml")
        self.work = self.output.with_name(f"{self.output.name}.work")
        self._top: dict[str, Any] = {
            "suite": self.output.name,
            "sets": {"A": [f"{self.work.name}/answers"]},
            "frequency": {"below": 1},
            "question": [{"id": f"Q{number:02}", **table} for number, table in enumerate(tables, start=1)],
        }
        if any(language_of(table["question"]) != "ja" for table in tables):
            texts = {"qa": f"Answer the question {_EXAMPLES}", "chat": f"Answer the user's question {_EXAMPLES}"}
            self._top["instructions"] = texts
        try:
            config = config_of(config_table(self._top), self.config_path)
        except (Fault, BuildError, SuiteError) as error:
            raise BuildError(f"{self.prompts}: {error}") from None
        check_place(config)
        self._questions = [Question(asked.question_id, asked.question, {}) for asked in config.questions]
        self._asked = self._questions
        self._where = ""  # question and model of the current run
        self._failed: dict[tuple[str, str], None] = {}  # questions and models without an answer
        self._samples = {asked.question: asked.sample for asked in config.questions if asked.sample}
        if self.config_path.exists():
            names = {asked.question: asked.question_id for asked in read_config(self.config_path).questions}
            prompts = [asked.question for asked in config.questions]
            self._questions = self._asked = [Question(names[text], text, {}) for text in prompts if text in names]
            if missing := [f"'{in_one_line(text, 58)}'" for text in prompts if text not in names]:
                hint = "to take them in, delete that file, which is then written anew; existing answers are kept"
                self.problems.append(f"{few_names(missing)}: not in {self.config_path}, so not asked; {hint}")

        self._others = [Question(text, text, {}) for text in self._other_questions()]

    def _other_questions(self) -> list[str]:
        """The questions of stored answers that are not asked, of which the answers are passed over."""
        generation, options = self.generations[0], self.generations[0].options
        if generation.engine != "replay" or "input" not in options:
            return []
        rows = stored_answers(
            Path(options["input"]), options.get("question_column", "question"), options.get("answer_column", "answer")
        )
        asked = {name for question in self._questions for name in (question.question, question.question_id)}
        others = Counter(text for _, text, _ in rows if text not in asked)
        if others:
            names = few_names([f"'{in_one_line(text, 58)}'" for text in others])
            self.notes.append(
                f"passed over {counted(others.total(), 'answer')} to questions that are not asked: {names}"
            )
        return list(others)

    def requests(self) -> Iterator[tuple[Generation, str, int]]:
        """For each generation and question, the text of a request, and the number of answers that are missing."""
        samples = {question.question: _UNKNOWN_SAMPLE for question in self._asked} | self._samples
        for step in (next(self._first_steps()), *self._other_steps(self._asked)):
            for question, suite in self._suites(step, samples):
                folder = step.generation.folder(suite, step.root(question))
                n_missing = step.trials - (len(single_trials(folder)) if folder.is_dir() else 0)
                if n_missing > 0:
                    prompt = step.generation.setting.tasks(suite, 1)[0].prompt
                    texts = [message["content"] for message in prompt.messages or ()]
                    yield step.generation, "\n".join([*texts, prompt.text]), n_missing

    def build(
        self,
        *,
        accept_keywords: bool = False,
        on_step: Callable[[int, int, str], None] = lambda done, total, what: None,
    ) -> Built:
        """Writes the config unless it exists, and builds the suite from the answers of `ask`.

        Without `accept_keywords`, suggested keyword rules are comments in the config.

        Raises:
            BuildError: The config was edited and is invalid, or another process is building.
        """
        if not self.config_path.exists():
            tables = [table for table in self._top["question"] if table["question"] in self.n_answers]
            tables = [{**table, "sample": self._samples[table["question"]]} for table in tables]
            self._top["question"] = tables
            write_whole(self.config_path, config_text(self._top, self.n_answers, self.rules).encode())
            built = build_suite(self.config_path, on_step=on_step)
            if built.is_written:
                suite, has_others = Suite.load(self.output.absolute()), len(tables) > 1
                suggested = ((text, suggest_rule(suite, text)) for text in self.n_answers if has_others)
                self.rules = {text: rule for text, rule in suggested if rule}
                why = NO_RULE if has_others else "suggestions need references to other questions"
                write_whole(self.config_path, config_text(self._top, self.n_answers, self.rules, why).encode())
                if without := [asked.question_id for asked in suite if asked.question not in self.rules]:
                    self.notes.append(f"{few_names(without)}: no suggested keyword rules: {why}")
        else:
            self._follow_answers()
        if accept_keywords:
            text = with_accepted_rules(read_text(self.config_path, error=BuildError))
            write_whole(self.config_path, text.encode())
        built = build_suite(self.config_path, on_step=on_step)
        self.problems += built.problems
        return built

    def _follow_answers(self) -> None:
        """Updates the sizes of an existing config whose lines nobody has edited."""
        text = with_sizes(read_text(self.config_path, error=BuildError), self.n_answers)
        write_whole(self.config_path, text.encode())
        config = read_config(self.config_path)
        if not all(asked.keywords for asked in config.questions):
            self.notes.append(f"no new suggestions, since {self.config_path} exists; it has those of its first build")
        for asked in config.questions:
            wanted = n_references(self.n_answers.get(asked.question, 0))
            if asked.size < wanted:
                size = f"size (or select.size) in {self.config_path} is {asked.size:,}, as it was edited"
                self.notes.append(f"{asked.question_id}: {size}; its answers allow {wanted:,} references")

    def ask(
        self, *, on_answer: Callable[[int, int], None] = lambda done, total: None, events: Events | None = None
    ) -> None:
        """Requests the missing answers, which are stored when they arrive.

        Raises:
            EngineError: A model answers none of the first questions.
            BuildError: No question has enough answers.
        """
        events = events or Events()
        if tell := events.on_trouble:
            events.on_trouble = lambda kind, what: tell(kind, f"{self._where}: {what}")
        self._n_done = self._n_cut = 0
        self._n_wanted = len(next(self._first_steps()).questions) + self.answers * len(self._asked)
        for step in self._first_steps():
            for question, run in self._runs(step, on_answer, events):
                if run.run is not None:
                    self._samples[question.question] = Trials.of(run.run).answers[0]
        questions = [question for question in self._asked if question.question in self._samples]
        texts: dict[str, set[str]] = {question.question: set() for question in self._asked}
        for step in self._other_steps(questions):
            for question, run in self._runs(step, on_answer, events):
                if run.run is not None:
                    texts[question.question].update(filter(str.strip, Trials.of(run.run).answers))
        n_models = len({generation.setting.model for generation in self.generations})
        for question in self._asked:
            models = [model for text, model in self._failed if text == question.question]
            least = _LEAST_SHARE * self.answers * (n_models - len(models)) / n_models
            if (n := len(texts[question.question])) >= max(1, int(least)):
                self.n_answers[question.question] = n
            else:
                because = f"{counted(n, 'different answer')} of {self.answers:,}"
                because += f", none from {few_names(models)}" if models else ""
                name = f"{question.question_id} ('{in_one_line(question.question, 58)}')"
                self.left_out.append(f"{name}: left out with {because}; change the prompt, or ask another model")
        self.problems += self.left_out
        if self._n_cut:
            self.notes.append(f"{counted(self._n_cut, 'answer')} ended at the limit of tokens; raise --max-tokens")
        if not self.n_answers:
            raise BuildError(f"{self.prompts}: no question has enough answers: {self.problems[0]}")

    def _first_steps(self) -> Iterator[_Step]:
        """Requests of first answers to each model in turn, for the questions without one at that time."""
        by_model = {generation.setting.model: generation for generation in reversed(self.generations)}
        for number, model in enumerate(dict.fromkeys(generation.setting.model for generation in self.generations)):
            generation = by_model[model]
            zero_shot = replace(generation, setting=replace(generation.setting, num_examples=0))
            questions = [question for question in self._asked if question.question not in self._samples]
            yield _Step(zero_shot, 1, self.work / "first", questions, may_fail=number > 0)

    def _other_steps(self, questions: Sequence[Question]) -> Iterator[_Step]:
        n = len(self.generations)
        for number, generation in enumerate(self.generations):
            trials = self.answers // n + (number < self.answers % n)
            yield _Step(generation, trials, self.work / "answers", questions)

    def _suites(self, step: _Step, samples: Mapping[str, str]) -> Iterator[tuple[Question, Suite]]:
        """A suite of each question of a step, whose prompts have the sample answers of the other questions."""
        whole = Suite(self.output.name, (*self._questions, *self._others))
        instructions: dict[str, str] = self._top.get("instructions", {})
        if not step.generation.setting.num_examples or len(self._asked) < 2:
            form = f"in its language, in {self.style}."
            instructions = {"qa": f"Answer the question {form}", "chat": f"Answer the user's question {form}"}
            instructions["examples_heading"] = ""
        whole.__dict__.update(
            samples=tuple(
                Sample(text, samples[text]) for question in self._asked if (text := question.question) in samples
            ),
            instructions=instructions,
        )
        for question in step.questions:
            yield question, whole.only([question.question_id])

    def _runs(
        self, step: _Step, on_answer: Callable[[int, int], None], events: Events
    ) -> Iterator[tuple[Question, Generated]]:
        """Generates the runs of a step; what fails becomes a problem, unless the first questions all fail."""
        generation, n_failed, has_answers = step.generation, 0, False
        with _opening(generation) as opened:
            for question, suite in self._suites(step, self._samples):
                before, self._n_done = self._n_done, self._n_done + step.trials
                self._where = where = f"{question.question_id}, {generation.setting.model}"
                try:
                    engine = opened(suite)
                    n_trials = step.trials
                    if engine.n_trials is not None:  # stored answers are one run for all settings
                        n_trials = min(1 if step.folder.name == "first" else self.answers, engine.n_trials)
                    if not n_trials:
                        raise EngineError("the input has no answer to the question")
                    run = generate(
                        suite,
                        engine,
                        generation.setting,
                        trials=n_trials,
                        output=step.root(question),
                        on_progress=lambda n, _: on_answer(min(before + n, self._n_done), self._n_wanted),  # noqa: B023
                        events=events,
                    )
                except EngineError as error:
                    n_failed += 1
                    key = question.question, generation.setting.model
                    if key not in self._failed:
                        self.problems.append(f"{where}: {error}")
                    self._failed[key] = None
                    if n_failed == _FAILURES_AT_FIRST and not (has_answers or step.may_fail):
                        raise EngineError(f"no answers: {where}: {error}") from None
                    continue
                has_answers = True
                self.problems += [f"{where}: {problem}" for problem in run.problems[:1]]
                self._n_cut += run.replies.n_cut if run.replies else 0
                yield question, run


@contextlib.contextmanager
def _opening(generation: Generation) -> Iterator[Callable[[Suite], Engine]]:
    """Yields a function that opens the engine for a suite; weights are loaded once for all suites."""
    if generation.engine not in ("hf", "transformers", "vllm"):
        yield lambda suite: generation.open(suite, loads=False)
        return

    async def stay_open() -> None:
        """Does nothing at the end of a run."""

    engine = generation.open(Suite("", ()), loads=False)
    close = engine.close
    setattr(engine, "close", stay_open)  # noqa: B010 - mypy refuses to assign to a method
    try:
        yield lambda suite: engine
    finally:
        run_async(close())
