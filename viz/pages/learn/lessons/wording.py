"""Fill what a view has found into the texts of a lesson, in the language of the page run."""

from viz.pages.learn.lessons.lesson import Found, LessonFileError, Question
from viz.text.messages import _, shown
from viz.ui.controls import plain


def filled(text: str, found: Found) -> str:
    """A text of a lesson as Markdown: `{name}` and `{name:.2f}` become what the view has found, taken literally."""
    return filled_plainly(
        text, {name: _Literal(shown(value)) if isinstance(value, str) else value for name, value in found.items()}
    )


def filled_plainly(text: str, found: Found) -> str:
    """The same where nobody reads Markdown.

    Raises:
        LessonFileError: the text names what the view does not find, or writes it as what it is not.
    """
    try:
        return _(text).format_map({name: _in_words(value) for name, value in found.items()})
    except (KeyError, ValueError) as error:
        raise LessonFileError(f"“{text}” cannot be filled from {sorted(found)}: {error}.") from error


def is_right(option: str, question: Question, found: Found) -> bool:
    """Whether an option, as its file has it, is the answer: what a view has found is compared in English."""
    return option.format_map(found) == str(found[question.answer])


def answer(question: Question, found: Found) -> str:
    """What the view has found to be the answer, as the option reads that is right."""
    return str(_in_words(found[question.answer]))


def _in_words(value: float | str) -> float | str:
    return shown(value) if isinstance(value, str) else value


class _Literal(str):
    """A word of the model, every sign of which is shown as it is."""

    def __format__(self, spec: str) -> str:
        return plain(str(self))
