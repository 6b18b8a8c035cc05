"""What a lesson is, and how its file is read: steps of text, a view of the model, perhaps a question, and claims.

A file says nothing that a model computes. `{name}` in a text is a number or word that the step's view has found, a
question's answer is one as well, and a claim compares them; a model that does not bear out a claim says so on the page.
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields, replace
from functools import cache
from operator import eq, ge, gt, le, lt, ne
from pathlib import Path
from string import Formatter
from typing import Any, Final, Literal, Self, TypeVar

from viz.pages.learn.explore import TOPICS
from viz.text.messages import _, shown
from viz.text.written import NamedHead, written_number
from viz.ui.controls import markdown

#: What a view has found: numbers and words, by their names.
Found = Mapping[str, float | str]
Made = TypeVar("Made")
FOLDER: Final = Path(__file__).parent / "files"
_COMPARISONS: Final = {">": gt, "<": lt, ">=": ge, "<=": le, "==": eq, "!=": ne}
#: A matrix of an attention (§3.2.2), as texts name it.
_MATRIX: Final = re.compile(r"(?<![A-Za-z0-9])W_([QKVO])(i?)(?![A-Za-z0-9])")
_CLAIM: Final = re.compile(r"(\w+) (>|<|>=|<=|==|!=) (?:(-?\d+(?:\.\d+)?)|(\w+)|'(.*)')")


class OfHead(float):
    """A number that was measured of one head: it knows which, and over what. A step may say it only with both."""

    head: NamedHead
    over: str  #: the set of sentences; "" for the step's own sentence

    def __new__(cls, value: float, head: NamedHead, over: str = "") -> Self:
        """The number as it is, with where it comes from."""
        made = super().__new__(cls, value)
        made.head, made.over = head, over
        return made


class LessonFileError(ValueError):
    """A lesson's file does not say what a lesson needs."""


@dataclass(frozen=True, slots=True)
class Question:
    """What a person predicts before the picture is drawn."""

    ask: str  #: the question
    options: tuple[str, ...]  #: what can be chosen; `{name}` as in a text
    #: for each option, what is the case instead, and the misconception; empty for the one that is right
    wrong: tuple[str, ...]
    #: the name of what the view has found that is the answer, one of the options, or a text with such names; "" where
    #: nothing computes it: then the option is right that has no text in `wrong`.
    answer: str
    because: str  #: said with the verdict


@dataclass(frozen=True, slots=True)
class Step:
    """One picture with its text."""

    title: str  #: in a few words
    text: str  #: two or three sentences, Markdown
    view: str  #: the name of a function in `data`, and what it is given
    given: Mapping[str, Any]  #: the arguments of the view
    question: Question | None  #: to be answered before the picture is seen; None for none
    claims: tuple[str, ...]  #: comparisons that the text rests on, "weight > 0.5"
    #: where in the picture of the Transformer the step is shown, by names of the selection; empty where the view draws
    #: a picture of its own.
    walk: Mapping[str, Any]
    #: where the story “Start here” shows it: the `page`, the `choices` there, and the `ring`, a selector of the parts
    #: that are ringed; empty in lessons.
    shown: Mapping[str, Any]
    own: bool = False  #: whether a person may put a sentence of their own in place of the step's
    explore: str = ""  #: the topic of Explore that can be unfolded below it (`viz.pages.learn.explore`); "" for none
    is_shown: bool = False  #: whether the picture is seen before the question is answered


@dataclass(frozen=True, slots=True)
class Check:
    """An exercise whose answer is checked: a line, a number, or the cells of a mask. Nothing that is typed is run."""

    #: "line": which line of the lesson's program was changed; "value": a number; "cells": what a mask allows.
    kind: Literal["line", "value", "cells"]
    ask: str  #: what to do
    hint: str  #: said of a wrong answer
    because: str  #: said of the right one
    #: of a line, `line` as it should be and `bug` as it is; of a value, `of` and `numbers` of a formula, `answer`, the
    #: name of its result, and `digits`; of cells, how many tokens, and of these how many are padding.
    given: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Lesson:
    """A lesson, by the name of its file."""

    name: str  #: in addresses
    title: str  #: as listed
    section: str  #: of the paper, "§3.2.1"
    steps: tuple[Step, ...]  #: in order
    summary: tuple[str, ...] = ()  #: what to remember, three lines; the story has none
    exercise: str = ""  #: one thing to try next
    check: Check | None = None  #: an exercise with an answer; the story has none


def with_text(lesson: Lesson, number: int, text: str) -> Lesson:
    """The same lesson with another sentence in one step, counted from 1; its claims are about its own sentence."""
    before, step, after = lesson.steps[: number - 1], lesson.steps[number - 1], lesson.steps[number:]
    changed = replace(step, given={**step.given, "text": text}, claims=())
    return replace(lesson, steps=(*before, changed, *after))


@cache
def lessons() -> Mapping[str, Lesson]:
    """Every lesson by its name, in the order of the numbers that their files begin with: 0, 1, 2, …"""
    found = (read(path) for path in sorted(FOLDER.glob("*.toml")))
    return {lesson.name: lesson for lesson in found}


def read(path: Path) -> Lesson:
    """The lesson of a file NN_NAME.toml.

    Raises a LessonFileError if a key is lacking or unknown, or a value of the wrong kind.
    """
    content = content_of(path)
    steps = tuple(step_of(f"{path.name}, step {number}", step) for number, step in enumerate(content.pop("steps"), 1))
    name = path.stem.partition("_")[2].replace("_", "-")
    if "check" in content:
        content["check"] = _made(Check, f"{path.name}, check", content["check"])
    if "summary" in content:
        content["summary"] = tuple(content["summary"])
    return _made(Lesson, path.name, content | {"name": name, "steps": steps})


def content_of(path: Path) -> dict[str, Any]:
    """What a file of lessons, or of questions, holds."""
    with path.open("rb") as file:
        return tomllib.load(file)


def step_of(where: str, content: dict[str, Any]) -> Step:
    """The step of a file's entry; arguments and errors as of `read`, `where` being named in these."""
    question = content.pop("question", None)
    if question is not None:
        lists = {name: tuple(question[name]) for name in ("options", "wrong") if name in question}
        question = _made(Question, where, {"because": ""} | question | lists)
        if len(question.wrong) != len(question.options):
            raise LessonFileError(f"{where}: {len(question.options)} options, but {len(question.wrong)} in “wrong”.")
    if (topic := content.get("explore")) is not None and topic not in TOPICS:
        raise LessonFileError(f"{where}: there is no {topic!r} to explore; there is {', '.join(TOPICS)}.")
    claims = tuple(content.pop("claims", ()))
    for claim in claims:
        if _CLAIM.fullmatch(claim) is None:
            raise LessonFileError(
                f"{where}: a claim is “name > number”, “name == name” or “name == 'word'”, not {claim!r}."
            )
    return _made(
        Step, where, {"given": {}, "walk": {}, "shown": {}} | content | {"question": question, "claims": claims}
    )


def _made(kind: type[Made], where: str, content: Mapping[str, Any]) -> Made:
    known = fields(kind)  # type: ignore[arg-type]
    lacking = sorted({field.name for field in known if field.default is MISSING} - set(content))
    unknown = sorted(set(content) - {field.name for field in known})
    if lacking or unknown:
        raise LessonFileError(f"{where}: lacking {lacking}, unknown {unknown}.")
    return kind(**content)


def holds(claim: str, found: Found) -> bool:
    """Whether what a view has found bears out a claim; a number that is compared with nothing does not.

    Raises a LessonFileError if it names what the view does not find.
    """
    match = _CLAIM.fullmatch(claim)
    assert match is not None, "claims are checked where the file is read"
    name, comparison, number, other, word = match.groups()
    try:
        right = float(number) if number else word if word is not None else found[other]
        return bool(_COMPARISONS[comparison](found[name], right))
    except KeyError as lacking:
        raise LessonFileError(f"{claim}: the view finds {sorted(found)}, not {lacking}.") from lacking


def unnamed(step: Step, found: Found) -> list[str]:
    """The numbers of a head that a step says without the name of that head, or of what they were measured over."""
    question = step.question
    texts = [step.text, *(() if question is None else (question.ask, question.because, *question.wrong))]
    used = {
        name: found[name]
        for text in texts
        for _before, name, *_form in Formatter().parse(_(text))
        if name is not None and name in found
    }
    named, said = {one.address for one in used.values() if isinstance(one, NamedHead)}, {"", *map(str, used.values())}
    numbers = {name: value for name, value in used.items() if isinstance(value, OfHead)}
    return [name for name, of in numbers.items() if of.head.address not in named or str(of.over) not in said]


def filled(text: str, found: Found) -> str:
    """A text of a lesson as Markdown: `{name}` and `{name:.2f}` become what the view has found, taken literally.

    The matrices W_Q, W_K, W_V and W_O are typeset, and W_Qi, W_Ki and W_Vi, those of head i.
    """
    literally = {name: markdown(value) if isinstance(value, str) else value for name, value in found.items()}
    return _MATRIX.sub(_typeset, filled_plainly(text, literally))


def _typeset(matrix: re.Match[str]) -> str:
    return f"$W_{matrix[1]}{'^i' if matrix[2] else ''}$"


def filled_plainly(text: str, found: Found) -> str:
    """Fill a text that is shown as plain text, not Markdown.

    Raises a LessonFileError if the text names what the view does not find, or writes it as what it is not.
    """
    try:
        return _(text).format_map({name: _in_words(value) for name, value in found.items()})
    except (KeyError, ValueError) as error:
        raise LessonFileError(f"“{text}” cannot be filled from {sorted(found)}: {error}.") from error


def is_right(option: str, question: Question, found: Found) -> bool:
    """Whether an option, as its file has it, is the answer: what a view has found is compared in English."""
    answer = _answer(question)
    return option == answer or option.format_map(found) == answer.format_map(found)


def right_answer(question: Question, found: Found) -> str:
    """The answer, as the option reads that is right."""
    return filled_plainly(_answer(question), found)


def _answer(question: Question) -> str:
    """The answer as a text with the names of what a view has found."""
    if not question.answer:
        return question.options[question.wrong.index("")]
    return question.answer if "{" in question.answer else f"{{{question.answer}}}"


class _Written(float):
    """A number that a text writes as people do: −1.5, 3·10⁻⁷."""

    def __format__(self, form: str) -> str:
        return written_number(float(self), form)


def _in_words(value: float | str) -> float | str:
    return shown(value) if isinstance(value, str) else value if isinstance(value, int) else _Written(value)
