"""The config of a suite build: a TOML file in which every key is checked. Reference: docs/building.md."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

from ..errors import BuildError, SuiteError
from ..files.reading import read_stored
from ..files.untrusted_text import in_one_line, nearest_names, shown_value
from ..files.untrusted_toml import read_toml
from ..native import _core
from ..suite.keywords import rule_faults
from ..suite.questions import Instructions
from ..suite.units import PATTERNS, FileTokenizer, PatternTokenizer, Tokenizer, may_name_tokenizer
from .normalise import WHITE_SPACE, Rewrite, check_pattern, check_replacement, read_list

T = TypeVar("T")

KEEP_WORDS = ("auto", "all")
"""What `length.keep` may be besides a number."""

_NAME = re.compile(r"[^\W_][\w-]{0,63}")
"""Names that are valid file names on every system."""


@dataclass(frozen=True)
class Normalise:
    """How texts are normalised, in this order.

    Attributes:
        nfkc: Whether to apply the Unicode normalisation form NFKC, which unifies characters that look the same.
        white_space: `"single"`: each run becomes one space, none at the ends; `"trim"`: only the ends; `"keep"`.
        rules: The rules of the lists, then the replacements, then the patterns that remove an answer.
    """

    nfkc: bool = False
    white_space: str = "single"
    rules: tuple[Rewrite, ...] = ()


@dataclass(frozen=True)
class Frequency:
    """Which answers are too unlike the others.

    Attributes:
        order: The order of the n-grams.
        below: An n-gram that occurs fewer times than this is rare.
        until_stable: Whether to repeat the filter until no answer holds a rare n-gram.
    """

    order: int = 5
    below: int = 2
    until_stable: bool = False


@dataclass(frozen=True)
class Length:
    """Which answers are kept by length.

    Attributes:
        target: The target length.
        keep: How many answers nearest to the target are kept: a number, `"auto"` or `"all"`; see `LengthStage`.
    """

    target: int = 100
    keep: int | str = "auto"


@dataclass(frozen=True)
class Select:
    """How the reference answers are selected.

    Attributes:
        size: The number of reference answers.
        max_order: Match the distribution of n-grams of the orders 1 to this.
        duplicates: Whether the same text may be selected more than once: `"keep"`, or `"drop"` for the first only.
        restarts: The number of climbs, each from another random subset; the best result is taken.
        proposals: Stop after this many swaps were tried, if no climb has finished by then.
        seconds: Stop after this time; the result then depends on the machine.
    """

    size: int = 1000
    max_order: int = 10
    duplicates: str = "drop"
    restarts: int = 1
    proposals: int | None = None
    seconds: float | None = None


@dataclass(frozen=True)
class QuestionConfig:
    """A question to build reference sets for.

    Attributes:
        question_id: The question's ID, such as `"Q01"`; also the name of its file.
        question: The prompt text.
        category: Free text.
        note: Free text.
        sample: A sample answer by a human, for prompts; "" if there is none.
        keywords: Keyword rules, in the form of a question file.
        wrong: Patterns that no reference answer may match.
        required: Patterns that every reference answer must match.
        answers: For each set, the files that hold only answers to this question.
    """

    question_id: str
    question: str
    category: str = ""
    note: str = ""
    sample: str = ""
    keywords: tuple[Any, ...] = ()
    wrong: tuple[str, ...] = ()
    required: tuple[str, ...] = ()
    answers: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    tokenizer: Tokenizer | None = None


@dataclass(frozen=True)
class Config:
    """The config of `build`.

    Attributes:
        path: The config file. Paths in it are relative to its folder.
        suite: The folder of the suite.
        work: The folder of the stages.
        seed: Any text; determines the random subsets.
        normalise: Stage 1.
        frequency: Stage 3.
        length: Stage 4.
        select: Stage 5.
        sets: For each set, the files that hold answers to all questions.
        questions: The questions, by ID.
        instructions: Texts of the suite's prompts that differ from the default.
    """

    path: Path
    suite: Path
    work: Path
    seed: str
    normalise: Normalise
    frequency: Frequency
    length: Length
    select: Select
    sets: Mapping[str, tuple[str, ...]]
    questions: tuple[QuestionConfig, ...]
    instructions: Mapping[str, str]

    @property
    def unit(self) -> str:
        """The unit of n-grams, as a readable word."""
        names = {"character" if asked.tokenizer is None else "token" for asked in self.questions}
        return names.pop() if len(names) == 1 else "unit"

    @property
    def tokenizer_files(self) -> dict[str, bytes]:
        """The tokenizer files that belong in the suite, by their names there."""
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
        return _config(content, path)
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


def _config(content: dict[str, Any], path: Path) -> Config:
    _refuse_unknown("", content, _TOP)
    folder = path.parent
    suite = _folder(content, "suite", "", folder)
    work = _folder(content, "work", f"{content['suite']}.work", folder)
    if work.resolve() == suite.resolve() or suite.resolve() in work.resolve().parents:
        raise BuildError(f"work: expected a folder outside of that of the suite, {suite}")
    sets = _file_lists("sets", _value(content, "sets", dict, {}))
    usual = _tokenizer(content, "", folder, None)
    asked_for = _questions(_value(content, "question", list, []), folder, usual)
    questions = tuple(sorted(asked_for, key=lambda asked: asked.question_id))
    _check_tokenizer_names(questions)
    select = _part(content, "select", Select)
    _one_of("select.duplicates", select.duplicates, ("keep", "drop"))
    for asked in questions:
        if not (sets or asked.answers):
            raise BuildError(f"question {asked.question_id}: no answers; expected files in [sets] or in its answers")
    return Config(
        path=path,
        suite=suite,
        work=work,
        seed=_value(content, "seed", str, ""),
        normalise=_normalise(_value(content, "normalise", dict, {}), folder),
        frequency=_part(content, "frequency", Frequency),
        length=_length(content, select),
        select=select,
        sets=sets,
        questions=questions,
        instructions=_instructions(_value(content, "instructions", dict, {})),
    )


def _folder(content: Mapping[str, Any], key: str, usual: str, folder: Path) -> Path:
    name = _value(content, key, str, usual)
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
                    f"question {asked.question_id}: tokenizer: {path} has the name of another, {taken[path.name]}; "
                    "both are copied into the suite"
                )


def _refuse_unknown(where: str, table: Mapping[str, Any], known: Sequence[str]) -> None:
    for key in table:
        if key not in known:
            near = nearest_names(key, known)
            hint = f"did you mean {near[0]!r}?" if near else f"expected {', '.join(known)}"
            raise BuildError(f"{where}{in_one_line(key)}: unknown key; {hint}")


_KINDS: Mapping[type, str] = {
    str: "a text",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    list: "a list",
    dict: "a table",
}


def _value(table: Mapping[str, Any], key: str, kind: type[T], usual: T, where: str = "") -> T:
    value = table.get(key, usual)
    if kind is float and type(value) is int:
        return float(value)  # type: ignore[return-value]
    if type(value) is not kind:
        raise BuildError(f"{where}{key}: expected {_KINDS[kind]}, not {shown_value(value)}")
    return value


def _one_of(where: str, value: str, choices: Sequence[str]) -> str:
    if value not in choices:
        raise BuildError(f"{where}: expected {' or '.join(map(repr, choices))}, not {value!r}")
    return value


_LEAST: Mapping[str, int] = {"target": 0}
_MOST: Mapping[str, int] = {"max_order": _core.__longest_ngram__}
_MOST_OF_ALL = 2**31 - 1  # what the core counts with
_KINDS_OF_LIMITS: Mapping[str, type] = {"proposals": int, "seconds": float}


def _part(content: Mapping[str, Any], name: str, made: Callable[..., T]) -> T:
    """Creates an object from a table whose keys are the names of its fields."""
    table = _value(content, name, dict, {})
    known: dict[str, Any] = {field.name: field.default for field in fields(made)}  # type: ignore[arg-type]
    _refuse_unknown(f"{name}.", table, tuple(known))
    values = {}
    for key in table:
        usual = known[key]
        kind = _KINDS_OF_LIMITS[key] if usual is None else type(usual)
        value = _value(table, key, kind, usual, f"{name}.")
        if kind in (int, float) and (value < _LEAST.get(key, 1) if kind is int else not value > 0):
            least = f"at least {_LEAST.get(key, 1)}" if kind is int else "a number above 0"
            raise BuildError(f"{name}.{key}: expected {least}, not {value!r}")
        if kind is int and value > (most := _MOST.get(key, _MOST_OF_ALL)):
            raise BuildError(f"{name}.{key}: expected at most {most:,}, not {value!r}")
        values[key] = value
    return made(**values)


def _length(content: Mapping[str, Any], select: Select) -> Length:
    table = _value(content, "length", dict, {})
    keep = table.get("keep", Length.keep)
    words = " or ".join(map(repr, KEEP_WORDS))
    if type(keep) is not int and keep not in KEEP_WORDS:
        raise BuildError(f"length.keep: expected a whole number, {words}, not {shown_value(keep)}")
    if type(keep) is int and keep < select.size:
        raise BuildError(f"length.keep: expected at least select.size, which is {select.size}, not {keep}")
    rest = {key: value for key, value in table.items() if key != "keep"}
    return replace(_part({"length": rest}, "length", Length), keep=keep)


def _normalise(table: dict[str, Any], folder: Path) -> Normalise:
    _refuse_unknown("normalise.", table, _OF_NORMALISE)
    lists = _texts(table, "lists", "normalise.")
    rules = [rule for name in lists for rule in read_list(name, folder)]
    without = _texts(table, "without", "normalise.")
    names = [rule.name for rule in rules]
    for name in without:
        if name not in names:
            near = nearest_names(name, names)
            those = f"expected one of {', '.join(names)}" if names else "normalise.lists names no list"
            hint = f"did you mean {near[0]!r}?" if near else those
            raise BuildError(f"normalise.without: no rule {name!r} in the lists; {hint}")
    rules = [rule for rule in rules if rule.name not in without]
    for number, pair in enumerate(_value(table, "replace", list, [], "normalise.")):
        where = f"normalise.replace[{number}]"
        if not (isinstance(pair, list) and len(pair) == 2 and all(isinstance(part, str) for part in pair)):
            raise BuildError(f"{where}: expected a pattern and a text, not {shown_value(pair)}")
        check_replacement(pair[0], pair[1], where)
        rules.append(Rewrite(f"replace[{number}]", "replace", pair[0], pair[1]))
    for number, pattern in enumerate(_texts(table, "remove", "normalise.")):
        check_pattern(pattern, f"normalise.remove[{number}]")
        rules.append(Rewrite(f"remove[{number}]", "remove", pattern))
    white_space = _value(table, "white_space", str, WHITE_SPACE[0], "normalise.")
    return Normalise(
        nfkc=_value(table, "nfkc", bool, False, "normalise."),
        white_space=_one_of("normalise.white_space", white_space, WHITE_SPACE),
        rules=tuple(rules),
    )


def _texts(table: Mapping[str, Any], key: str, where: str) -> tuple[str, ...]:
    values = table.get(key, [])
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise BuildError(f"{where}{key}: expected a list of texts, not {shown_value(values)}")
    return tuple(values)


def _file_lists(where: str, table: dict[str, Any]) -> Mapping[str, tuple[str, ...]]:
    """Files or globs by the name of the set; a single one may be given without a list."""
    found = {}
    for name, given in table.items():
        _check_name(f"{where}.{name}", "a set's name", name)
        paths = [given] if isinstance(given, str) else given
        if not isinstance(paths, list) or not paths or not all(isinstance(path, str) and path for path in paths):
            raise BuildError(f"{where}.{name}: expected a file or glob, or a list of them, not {shown_value(given)}")
        found[name] = tuple(paths)
    return MappingProxyType(found)


def _check_name(where: str, what: str, name: str) -> None:
    if not _NAME.fullmatch(name):
        raise BuildError(
            f"{where}: {what} is made of up to 64 letters, digits, '-' and '_', unlike {shown_value(name)}"
        )


def _tokenizer(table: Mapping[str, Any], where: str, folder: Path, usual: Tokenizer | None) -> Tokenizer | None:
    """The tokenizer that splits texts into units; `usual` if the table does not name one."""
    if not any(key in table for key in _OF_UNITS):
        return usual
    unit = _one_of(f"{where}unit", _value(table, "unit", str, _UNITS[0], where), _UNITS)
    name = _value(table, "tokenizer", str, "", where)
    if unit == _UNITS[0]:
        if name:
            raise BuildError(f"{where}tokenizer: only for the unit 'token'")
        return None
    if name in PATTERNS:
        return PatternTokenizer(name)
    if not may_name_tokenizer(Path(name).name):
        known = ", ".join(map(repr, PATTERNS))
        raise BuildError(f"{where}tokenizer: expected {known} or a .json file of Hugging Face tokenizers, not {name!r}")
    path = folder / name
    tokenizer = FileTokenizer(path, hashlib.sha1(read_stored(path)).hexdigest())
    tokenizer.check()
    return tokenizer


def _questions(tables: list[Any], folder: Path, usual: Tokenizer | None) -> list[QuestionConfig]:
    if not tables:
        raise BuildError("question: missing; expected a [[question]] for each question of the suite")
    questions = [_question(table, number, folder, usual) for number, table in enumerate(tables, start=1)]
    taken: dict[str, str] = {}
    for asked in questions:
        for key in {asked.question_id.casefold(), asked.question}:
            if key in taken:
                raise BuildError(
                    f"question {asked.question_id}: its id or text is already that of question {taken[key]}"
                )
            taken[key] = asked.question_id
    return questions


def _question(table: Any, number: int, folder: Path, usual: Tokenizer | None) -> QuestionConfig:
    if not isinstance(table, dict):
        raise BuildError(f"question: expected a [[question]] for each question, not {shown_value(table)}")
    where = f"question {number}: "
    question_id = _value(table, "id", str, f"Q{number:02}", where)
    _check_name(f"{where}id", "an id", question_id)
    if not question_id.startswith("Q"):
        raise BuildError(
            f"{where}id: expected one that begins with 'Q', as the files of a suite do, not {question_id!r}"
        )
    where = f"question {question_id}: "
    _refuse_unknown(where, table, _OF_QUESTION)
    texts: dict[str, Any] = {key: _value(table, key, str, "", where) for key in _TEXTS}
    if not texts["question"]:
        raise BuildError(f"{where}question: missing; expected its text")
    keywords = _value(table, "keywords", list, [], where)
    for index, rule in enumerate(keywords):
        for fault in rule_faults(rule, f"keywords[{index}]"):
            raise BuildError(f"{where}{fault}")
    patterns: dict[str, Any] = {key: _texts(table, key, where) for key in ("wrong", "required")}
    for key, given in patterns.items():
        for index, pattern in enumerate(given):
            check_pattern(pattern, f"{where}{key}[{index}]")
    return QuestionConfig(
        question_id=question_id,
        keywords=tuple(keywords),
        answers=_file_lists(f"{where}answers", _value(table, "answers", dict, {}, where)),
        tokenizer=_tokenizer(table, where, folder, usual),
        **texts,
        **patterns,
    )


def _instructions(table: dict[str, Any]) -> Mapping[str, str]:
    names = tuple(text.name for text in fields(Instructions))
    _refuse_unknown("instructions.", table, names)
    return MappingProxyType({key: _value(table, key, str, "", "instructions.") for key in table})
