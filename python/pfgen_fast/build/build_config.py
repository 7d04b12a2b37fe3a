"""The config of a suite build: a TOML file in which every key is checked. Reference: docs/building.md."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from ..base.errors import BuildError, SuiteError
from ..base.file_reading import read_stored
from ..base.native import _core
from ..base.untrusted_json import Fault, entries, finite, items, keyed, one_of, read_toml, text, unexpected
from ..base.untrusted_text import did_you_mean
from ..suite.keywords import rule_faults
from ..suite.questions import Instructions
from ..suite.rules import MAX_LIMIT, Lengths
from ..suite.units import PATTERNS, FileTokenizer, PatternTokenizer, Tokenizer, may_name_tokenizer
from .answer_fit import lengths_of
from .answer_tables import re2_pattern
from .normalise import WHITE_SPACE, Rewrite, read_list, replacement, some_text, texts

KEEP_WORDS = ("auto", "all")  # `length.keep` is one of these or a number


@dataclass(frozen=True)
class Normalise:
    """How texts are normalised, in this order."""

    # whether to apply the Unicode normalisation form NFKC, which unifies characters that look the same
    nfkc: bool = False
    # `"single"`: consecutive white space becomes one space, and is removed at the ends; `"trim"`: white space is only
    # removed at the ends; `"keep"`: no change
    white_space: str = "single"
    rules: tuple[Rewrite, ...] = ()  # of the lists, then the replacements, then the patterns that remove an answer


@dataclass(frozen=True)
class Frequency:
    """Which n-grams are rare. Answers that contain one are removed."""

    order: int = 0  # order of the n-grams; 0: 5 for characters, 3 for tokens, which are longer
    below: int = 2  # an n-gram that occurs fewer times than this is rare
    until_stable: bool = False  # whether to repeat the filter until no answer contains a rare n-gram
    among: str = "set"  # answers in which n-grams are counted: those of the set, or of all sets of the `"question"`


@dataclass(frozen=True)
class Length:
    """Which lengths are kept."""

    target: int = 0  # 0: the typical length of the answers, see `answer_fit`
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
    answers: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # files about this question only, by set
    tokenizer: Tokenizer | None = None
    has_unit: bool = True  # whether the config names the unit; otherwise the answers decide it
    lengths: Lengths = field(default=Lengths())
    typical: int = 100  # the length that the reference answers should have, in the unit
    size: int = 1000  # number of reference answers in a set


@dataclass(frozen=True)
class Config:
    """The config of `build`."""

    path: Path  # paths in it are relative to its folder
    suite: Path  # folder of the suite
    work: Path  # folder of the stages
    questions: tuple[QuestionConfig, ...]  # questions, by ID
    seed: str = ""  # any text; determines the random subsets
    normalise: Normalise = Normalise()  # stage 1
    frequency: Frequency = Frequency()  # stage 3
    length: Length = Length()  # stage 4
    select: Select = Select()  # stage 5
    sets: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # files with answers to all questions, by set
    lengths: Lengths | None = None  # lengths of all questions; by default the answers decide them
    instructions: Mapping[str, str] = field(default_factory=dict)  # texts of prompts that replace the defaults

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


def read_config(
    path: str | Path, *, unit: str | None = None, target: int | None = None, limit: int | None = None
) -> Config:
    """Reads and checks the config of a suite build, a TOML file; the arguments override its unit, target and limit.

    Raises:
        BuildError: The file is not TOML, or a key is unknown, missing or invalid; the message names it.
        TrialsError: The file cannot be read.
    """
    path = Path(path)
    content = read_toml(path, error=BuildError)
    try:
        top = config_table(content)
        if unit is not None:
            top = {**{key: value for key, value in top.items() if key not in _OF_UNITS}, **_unit_keys(unit)}
        lengths = {key: value for key, value in (("target", target), ("limit", limit)) if value is not None}
        return config_of({**top, "score": {**top.get("score", {}), **lengths}}, path)
    except (Fault, BuildError, SuiteError) as error:
        raise BuildError(f"{path}: {error}") from None


def _file_name(value: Any) -> str:
    """A name that becomes part of a file name."""
    if not re.fullmatch(r"[^\W_][\w-]{0,63}", text(value)):  # a valid file name on every system
        raise unexpected("up to 64 letters, digits, '-' and '_'", value)
    return text(value)


def _question_id(value: Any) -> str:
    if not _file_name(value).startswith("Q"):
        raise unexpected("an id that begins with 'Q'", value)
    return text(value)


def _folder(value: Any) -> str:
    if any(unicodedata.category(character) == "Cc" for character in some_text(value)):
        raise unexpected("the name of a folder, without control characters", value)
    return text(value)


def _files(value: Any) -> tuple[str, ...]:
    if not isinstance(value, (str, list)) or not value:
        raise unexpected("a file or glob, or a list of them", value)
    return items([value] if isinstance(value, str) else value, some_text)


def _files_of_sets(value: Any) -> dict[str, tuple[str, ...]]:
    return {_file_name(name): files for name, files in entries(value, _files).items()}


def _whole(least: int = 1, most: int = 2**31 - 1) -> Callable[[Any], int]:
    """A check of a whole number; the core counts with 32 bits."""

    def check(value: Any) -> int:
        if type(value) is not int or not least <= value <= most:
            raise unexpected(f"a whole number from {least} to {most:,}", value)
        return value

    return check


def _seconds(value: Any) -> float:
    if not finite(value) > 0:
        raise unexpected("a number above 0", value)
    return finite(value)


def _keep(value: Any) -> int | str:
    if type(value) is not int and value not in KEEP_WORDS:
        raise unexpected(f"a whole number, {' or '.join(map(repr, KEEP_WORDS))}", value)
    return value  # type: ignore[no-any-return]


def _replace(value: Any) -> tuple[str, str]:
    if not (isinstance(value, list) and len(value) == 2):
        raise unexpected("a pattern and a text", value)
    return replacement(*texts(value))


def _patterns(value: Any) -> tuple[str, ...]:
    return items(value, re2_pattern)


def _keywords(value: Any) -> tuple[Any, ...]:
    rules = items(value, lambda rule: rule)
    for index, rule in enumerate(rules):
        for fault in rule_faults(rule, f"[{index}]"):
            place, _, problem = fault.partition(": ")
            raise Fault(problem).inside(place)
    return rules


_TRUTH = one_of((True, False))
_UNITS = ("character", "token")
_OF_UNITS = {"unit": one_of(_UNITS), "tokenizer": text}
question_table = keyed(
    {
        "id": _question_id,
        "question": some_text,
        **dict.fromkeys(("category", "note", "sample"), text),
        "keywords": _keywords,
        "wrong": _patterns,
        "required": _patterns,
        "answers": _files_of_sets,
        "size": _whole(),
        **_OF_UNITS,
    },
    "question",
)


def _questions(value: Any) -> tuple[dict[str, Any], ...]:
    if value == []:
        raise unexpected("a [[question]] for each question of the suite", value)
    return items(value, question_table)


config_table = keyed(
    {
        "suite": _folder,
        "work": _folder,
        "seed": text,
        **_OF_UNITS,
        "normalise": keyed(
            {
                "nfkc": _TRUTH,
                "white_space": one_of(WHITE_SPACE),
                "lists": texts,
                "without": texts,
                "replace": lambda value: items(value, _replace),
                "remove": _patterns,
            }
        ),
        "frequency": keyed(
            {"order": _whole(), "below": _whole(), "until_stable": _TRUTH, "among": one_of(("set", "question"))}
        ),
        "length": keyed({"target": _whole(), "keep": _keep}),
        "score": keyed({"target": _whole(1, MAX_LIMIT), "limit": _whole(2, MAX_LIMIT)}),
        "select": keyed(
            {
                "size": _whole(),
                "max_order": _whole(1, _core.__longest_ngram__),
                "duplicates": one_of(("keep", "drop")),
                "restarts": _whole(),
                "proposals": _whole(),
                "seconds": _seconds,
            }
        ),
        "sets": _files_of_sets,
        "question": _questions,
        "instructions": keyed({instruction.name: text for instruction in fields(Instructions)}),
    },
    "suite",
    "question",
)


def config_of(top: Mapping[str, Any], path: Path) -> Config:
    """The config in a table that was checked; paths in it are relative to the folder of `path`."""
    folder = path.parent
    suite, work = folder / top["suite"], folder / top.get("work", f"{top['suite']}.work")
    if work.resolve() == suite.resolve() or suite.resolve() in work.resolve().parents:
        raise BuildError(f"work: expected a directory outside the suite's directory, {suite}")
    sets, usual = top.get("sets", {}), _tokenizer(top, folder, None, "")
    length, select = Length(**top.get("length", {})), Select(**top.get("select", {}))
    questions = []
    taken: dict[str, str] = {}
    for number, table in enumerate(top["question"], start=1):
        question_id = table.pop("id", f"Q{number:02}")
        where = f"question {question_id}"
        if not (sets or table.get("answers")):
            raise BuildError(f"{where}: no answers; name files in [sets] or in its key answers")
        for key in {question_id.casefold(), table["question"]}:
            if key in taken:
                raise BuildError(f"{where}: question {taken[key]} has the same id or text")
            taken[key] = question_id
        tokenizer = _tokenizer(table, folder, usual, f"{where}: ")
        has_unit = not (table.keys() | top.keys()).isdisjoint(_OF_UNITS)
        settings = {"size": select.size, **{key: value for key, value in table.items() if key not in _OF_UNITS}}
        questions.append(QuestionConfig(question_id, tokenizer=tokenizer, has_unit=has_unit, **settings))
    _check_tokenizer_names(questions)
    if isinstance(length.keep, int) and length.keep < (size := max(asked.size for asked in questions)):
        raise BuildError(f"length.keep: expected at least select.size, which is {size}, not {length.keep}")
    return Config(
        path=path,
        suite=suite,
        work=work,
        seed=top.get("seed", ""),
        normalise=_normalise(folder, **top.get("normalise", {})),
        frequency=Frequency(**top.get("frequency", {})),
        length=length,
        select=select,
        sets=sets,
        questions=tuple(sorted(questions, key=lambda asked: asked.question_id)),
        lengths=lengths_of(**top.get("score", {})),
        instructions=top.get("instructions", {}),
    )


def read_unit(unit: str) -> Tokenizer | None:
    """The tokenizer of a unit: None for `"character"`; otherwise as the key `tokenizer`."""
    return _tokenizer(_unit_keys(unit), Path(), None, "")


def _unit_keys(unit: str) -> dict[str, str]:
    return {"unit": unit} if unit == _UNITS[0] else {"unit": "token", "tokenizer": unit}


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


def _normalise(
    folder: Path,
    *,
    nfkc: bool = False,
    white_space: str = WHITE_SPACE[0],
    lists: Sequence[str] = (),
    without: Sequence[str] = (),
    replace: Sequence[tuple[str, str]] = (),
    remove: Sequence[str] = (),
) -> Normalise:
    rules = [rule for name in lists for rule in read_list(name, folder)]
    names = [rule.name for rule in rules]
    for name in without:
        if name not in names:
            expected = f"; expected one of {', '.join(names)}" if names else "; normalise.lists is empty"
            hint = did_you_mean(name, names, otherwise=expected)
            raise BuildError(f"normalise.without: no rule {name!r} in the lists{hint}")
    rules = [rule for rule in rules if rule.name not in without]
    rules += (Rewrite(f"replace[{number}]", "replace", *pair) for number, pair in enumerate(replace))
    rules += (Rewrite(f"remove[{number}]", "remove", pattern) for number, pattern in enumerate(remove))
    return Normalise(nfkc, white_space, tuple(rules))


def _tokenizer(table: Mapping[str, Any], folder: Path, usual: Tokenizer | None, where: str) -> Tokenizer | None:
    """The tokenizer that splits texts into units; `usual` if the table does not name one."""
    if table.keys().isdisjoint(_OF_UNITS):
        return usual
    name = table.get("tokenizer", "")
    if table.get("unit", _UNITS[0]) == _UNITS[0]:
        if name:
            raise BuildError(f"{where}tokenizer: allowed only with the unit 'token'")
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
