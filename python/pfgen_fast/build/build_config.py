"""The config of a suite build: a TOML file in which every key is checked. Reference: docs/building.md."""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from ..base.errors import BuildError, SuiteError
from ..base.file_reading import read_stored
from ..base.untrusted_json import read_toml
from ..base.untrusted_text import did_you_mean, shown_value
from ..suite.keywords import rule_faults
from ..suite.questions import Instructions
from ..suite.units import PATTERNS, FileTokenizer, PatternTokenizer, Tokenizer, may_name_tokenizer
from .config_table import ConfigTable, check_name
from .normalise import WHITE_SPACE, Rewrite, check_replacement, read_list

KEEP_WORDS = ("auto", "all")  # `length.keep` is one of these or a number


@dataclass(frozen=True)
class Normalise:
    """How texts are normalised, in this order."""

    # whether to apply the Unicode normalisation form NFKC, which unifies characters that look the same
    nfkc: bool = False
    # `"single"`: consecutive white space becomes one space, and is removed at the ends; `"trim"`: white space is only
    # removed at the ends; `"keep"`: no change
    white_space: str = "single"
    # rules of the lists, then the replacements, then the patterns that remove an answer
    rules: tuple[Rewrite, ...] = ()


@dataclass(frozen=True)
class Frequency:
    """Which n-grams are rare. Answers that contain one are removed."""

    order: int = 5  # order of the n-grams
    below: int = 2  # an n-gram that occurs fewer times than this is rare
    until_stable: bool = False  # whether to repeat the filter until no answer contains a rare n-gram


@dataclass(frozen=True)
class Length:
    """Which lengths are kept."""

    target: int = 100
    # number of answers to keep, those nearest to the target; or `"auto"` or `"all"`, see `length_stage`
    keep: int | str = "auto"


@dataclass(frozen=True)
class Select:
    """How the reference answers are selected."""

    size: int = 1000  # number of reference answers
    max_order: int = 10  # match the distribution of n-grams of the orders 1 to this
    # `"drop"`: of equal answers, only the first may be selected; `"keep"`: all of them
    duplicates: str = "drop"
    restarts: int = 1  # number of climbs, each from another random subset; the best result is taken
    proposals: int | None = None  # stop after this many swaps were tried, if no climb has finished by then
    seconds: float | None = None  # stop after this time; the result then depends on the machine


@dataclass(frozen=True)
class QuestionConfig:
    """A question to build reference sets for."""

    question_id: str  # such as `"Q01"`; also the name of its file
    question: str  # prompt text
    category: str = ""
    note: str = ""
    sample: str = ""  # sample answer by a human, for prompts; "" if there is none
    keywords: tuple[Any, ...] = ()  # keyword rules, in the form of a question file
    wrong: tuple[str, ...] = ()  # patterns that no reference answer may match
    required: tuple[str, ...] = ()  # patterns that every reference answer must match
    # files with answers to this question only, by set
    answers: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    tokenizer: Tokenizer | None = None


@dataclass(frozen=True)
class Config:
    """The config of `build`."""

    path: Path  # paths in it are relative to its folder
    suite: Path  # folder of the suite
    work: Path  # folder of the stages
    seed: str  # any text; determines the random subsets
    normalise: Normalise  # stage 1
    frequency: Frequency  # stage 3
    length: Length  # stage 4
    select: Select  # stage 5
    sets: Mapping[str, tuple[str, ...]]  # files with answers to all questions, by set
    questions: tuple[QuestionConfig, ...]  # questions, by ID
    instructions: Mapping[str, str]  # texts of prompts that replace the defaults

    @property
    def unit(self) -> str:
        """The unit of n-grams, as a readable word."""
        names = {"character" if asked.tokenizer is None else "token" for asked in self.questions}
        return names.pop() if len(names) == 1 else "unit"

    @property
    def tokenizer_files(self) -> dict[str, bytes]:
        """The tokenizer files to copy into the suite, by name."""
        files = {asked.tokenizer for asked in self.questions if isinstance(asked.tokenizer, FileTokenizer)}
        return {file.path.name: file.checked_content() for file in files}

    def set_names(self, question: QuestionConfig) -> list[str]:
        """The reference sets of a question."""
        return list(dict.fromkeys([*self.sets, *question.answers]))


def read_config(path: str | Path) -> Config:
    """Reads and checks the config of a suite build.

    Raises:
        BuildError: The file is not TOML, or a key is unknown, missing or invalid; the message names it.
        TrialsError: The file cannot be read.
    """
    path = Path(path)
    content = read_toml(path, error=BuildError)
    try:
        return _config(ConfigTable(content), path)
    except (BuildError, SuiteError) as error:
        raise BuildError(f"{path}: {error}") from None


def repeating(config: Config) -> Config:
    """The config with the frequency filter repeated until it removes nothing."""
    return replace(config, frequency=replace(config.frequency, until_stable=True))


_OF_UNITS = ("unit", "tokenizer")
_STAGES = ("normalise", "frequency", "length", "select")
_TOP = ("suite", "work", "seed", *_OF_UNITS, *_STAGES, "sets", "question", "instructions")
_TEXTS = ("question", "category", "note", "sample")
_OF_QUESTION = ("id", *_TEXTS, "keywords", "wrong", "required", "answers", *_OF_UNITS)
_OF_NORMALISE = ("nfkc", "white_space", "lists", "without", "replace", "remove")
_UNITS = ("character", "token")


def _config(top: ConfigTable, path: Path) -> Config:
    top.refuse_unknown(_TOP)
    folder = path.parent
    suite = _folder(top, "suite", "", folder)
    work = _folder(top, "work", f"{top.content['suite']}.work", folder)
    if work.resolve() == suite.resolve() or suite.resolve() in work.resolve().parents:
        raise BuildError(f"work: expected a directory outside the suite's directory, {suite}")
    sets = top.file_lists("sets")
    questions = _questions(top.value("question", list, []), folder, _tokenizer(top, folder, None))
    _check_tokenizer_names(questions)
    select = top.table("select").to(Select)
    top.table("select").one_of("duplicates", ("keep", "drop"))
    for asked in questions:
        if not (sets or asked.answers):
            raise BuildError(f"question {asked.question_id}: no answers; name files in [sets] or in its key answers")
    return Config(
        path=path,
        suite=suite,
        work=work,
        seed=top.value("seed", str, ""),
        normalise=_normalise(top.table("normalise"), folder),
        frequency=top.table("frequency").to(Frequency),
        length=_length(top.table("length"), select),
        select=select,
        sets=sets,
        questions=questions,
        instructions=_instructions(top.table("instructions")),
    )


def _folder(top: ConfigTable, key: str, usual: str, folder: Path) -> Path:
    name = top.value(key, str, usual)
    if not name:
        raise BuildError(f"{key}: missing; expected the folder to write")
    if any(unicodedata.category(character) == "Cc" for character in name):
        raise BuildError(f"{key}: expected the name of a folder, without control characters, not {name!r}")
    return folder / name


def _check_tokenizer_names(questions: Sequence[QuestionConfig]) -> None:
    """Checks that the names of tokenizer files are distinct, because the files share one folder in the suite."""
    taken: dict[str, Path] = {}
    for asked in questions:
        if isinstance(asked.tokenizer, FileTokenizer):
            path = asked.tokenizer.path
            if taken.setdefault(path.name, path) != path:
                raise BuildError(
                    f"question {asked.question_id}: tokenizer: {path} has the same file name as {taken[path.name]}; "
                    "both are copied into the suite, so rename one of them"
                )


def _length(table: ConfigTable, select: Select) -> Length:
    rest = dict(table.content)
    keep = rest.pop("keep", Length.keep)
    if type(keep) is not int and keep not in KEEP_WORDS:
        words = " or ".join(map(repr, KEEP_WORDS))
        raise BuildError(f"length.keep: expected a whole number, {words}, not {shown_value(keep)}")
    if type(keep) is int and keep < select.size:
        raise BuildError(f"length.keep: expected at least select.size, which is {select.size}, not {keep}")
    return replace(ConfigTable(rest, table.where).to(Length), keep=keep)


def _normalise(table: ConfigTable, folder: Path) -> Normalise:
    table.refuse_unknown(_OF_NORMALISE)
    rules = [rule for name in table.texts("lists") for rule in read_list(name, folder)]
    without = table.texts("without")
    names = [rule.name for rule in rules]
    for name in without:
        if name not in names:
            expected = f"; expected one of {', '.join(names)}" if names else "; normalise.lists is empty"
            hint = did_you_mean(name, names, otherwise=expected)
            raise BuildError(f"normalise.without: no rule {name!r} in the lists{hint}")
    rules = [rule for rule in rules if rule.name not in without]
    for number, pair in enumerate(table.value("replace", list, [])):
        where = f"normalise.replace[{number}]"
        if not (isinstance(pair, list) and len(pair) == 2 and all(isinstance(part, str) for part in pair)):
            raise BuildError(f"{where}: expected a pattern and a text, not {shown_value(pair)}")
        check_replacement(pair[0], pair[1], where)
        rules.append(Rewrite(f"replace[{number}]", "replace", pair[0], pair[1]))
    for number, pattern in enumerate(table.patterns("remove")):
        rules.append(Rewrite(f"remove[{number}]", "remove", pattern))
    return Normalise(table.value("nfkc", bool, False), table.one_of("white_space", WHITE_SPACE), tuple(rules))


def _tokenizer(table: ConfigTable, folder: Path, usual: Tokenizer | None) -> Tokenizer | None:
    """The tokenizer that splits texts into units; `usual` if the table does not name one."""
    if not any(key in table.content for key in _OF_UNITS):
        return usual
    unit = table.one_of("unit", _UNITS)
    name = table.value("tokenizer", str, "")
    if unit == _UNITS[0]:
        if name:
            raise BuildError(f"{table.where}tokenizer: allowed only with the unit 'token'")
        return None
    if name in PATTERNS:
        return PatternTokenizer(name)
    if not may_name_tokenizer(Path(name).name):
        known = ", ".join(map(repr, PATTERNS))
        raise BuildError(
            f"{table.where}tokenizer: expected {known} or a .json file of Hugging Face tokenizers, not {name!r}"
        )
    path = folder / name
    tokenizer = FileTokenizer(path, hashlib.sha1(read_stored(path)).hexdigest())
    tokenizer.check()
    return tokenizer


def _questions(tables: list[Any], folder: Path, usual: Tokenizer | None) -> tuple[QuestionConfig, ...]:
    """The questions of the tables, by ID."""
    if not tables:
        raise BuildError("question: missing; expected a [[question]] for each question of the suite")
    questions = [_question(table, number, folder, usual) for number, table in enumerate(tables, start=1)]
    taken: dict[str, str] = {}
    for asked in questions:
        for key in {asked.question_id.casefold(), asked.question}:
            if key in taken:
                raise BuildError(f"question {asked.question_id}: question {taken[key]} has the same id or text")
            taken[key] = asked.question_id
    return tuple(sorted(questions, key=lambda asked: asked.question_id))


def _question(content: Any, number: int, folder: Path, usual: Tokenizer | None) -> QuestionConfig:
    if not isinstance(content, dict):
        raise BuildError(f"question: expected a [[question]] for each question, not {shown_value(content)}")
    where = f"question {number}: "
    question_id = ConfigTable(content, where).value("id", str, f"Q{number:02}")
    check_name(f"{where}id", question_id)
    if not question_id.startswith("Q"):
        raise BuildError(f"{where}id: expected an id that begins with 'Q', not {question_id!r}")
    where = f"question {question_id}: "
    table = ConfigTable(content, where)
    table.refuse_unknown(_OF_QUESTION)
    texts: dict[str, Any] = {key: table.value(key, str, "") for key in _TEXTS}
    if not texts["question"]:
        raise BuildError(f"{where}question: missing; expected its text")
    keywords = table.value("keywords", list, [])
    for index, rule in enumerate(keywords):
        for fault in rule_faults(rule, f"keywords[{index}]"):
            raise BuildError(f"{where}{fault}")
    return QuestionConfig(
        question_id=question_id,
        keywords=tuple(keywords),
        wrong=table.patterns("wrong"),
        required=table.patterns("required"),
        answers=table.file_lists("answers"),
        tokenizer=_tokenizer(table, folder, usual),
        **texts,
    )


def _instructions(table: ConfigTable) -> Mapping[str, str]:
    table.refuse_unknown([text.name for text in fields(Instructions)])
    return MappingProxyType({key: table.value(key, str, "") for key in table.content})
