"""Choose the token that a comparison begins with, name tokens in lists, and tell which words of two texts differ.

In the decoder a row reads one token and writes the next, so a German pronoun is "looked up" in the row before its own:
rows of the decoder are therefore named by both.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from viz.text import messages
from viz.text.html import Marked
from viz.text.messages import _, said
from viz.text.written import CROSS, DECODER, ENCODER, display_token, display_tokens
from viz.ui.controls import plain

if TYPE_CHECKING:
    from model import Trace
    from model.analysis.word_diff import WordSpan

#: Language → its pronouns, looked for in this order; the English "it" is what the first examples are about.
PRONOUNS: Final[Mapping[str, Sequence[Sequence[str]]]] = {
    "en": (("it",), ("he", "she", "they", "him", "them")),
    "de": (("er", "sie", "es"), ("ihn", "ihm", "ihr")),
}


#: Sinks that are named.
MOST_NAMED: Final = 6


def sinks_named(trace: "Trace", site: str) -> str:
    """The keys of a site on which heads rest, the first few, as people write them."""
    keys = trace.axis_names(site)[1]
    signs = dict.fromkeys(display_token(keys[position]) for position in trace.sinks(site))
    names = [_("“{token}”", token=plain(sign)) for sign in signs]
    return messages.with_commas([*names[:MOST_NAMED], *(["…"] if len(names) > MOST_NAMED else [])]) or _("none")


def first_of(tokens: Sequence[str], wanted: Sequence[Sequence[str]]) -> int | None:
    """The first position of a whole word of the first group that occurs, whatever its case."""
    for words in wanted:
        for position, token in enumerate(tokens):
            begins = token.startswith("▁") or (position > 0 and tokens[position - 1] == "▁")
            ends = position + 1 == len(tokens) or not tokens[position + 1][:1].isalpha()
            if begins and ends and token.removeprefix("▁").lower() in words:
                return position
    return None


def default_row(trace: "Trace", site: str, languages: tuple[str, str]) -> int:
    """The query row to begin with: the pronoun that is read (encoder) or written (decoder); else the first.

    Languages are those that the model reads and writes, as HTML names them; "" if unknown, when English is read.
    """
    source, target = languages
    read, written = (PRONOUNS.get(language.partition("-")[0], ()) for language in (source or "en", target))
    if site == ENCODER:
        row = first_of(trace.source_tokens, read)
    elif CROSS not in trace.sites:
        # The first token of a decoder alone sees nothing but itself.
        row = first_of(trace.target_tokens, read)
        return len(trace.target_tokens) - 1 if row is None else row
    else:
        row = first_of([step.token for step in trace.steps], written)
    return 0 if row is None else row


_WRITE: Final = said(
    "A row is named after the word in bold, which the model writes there; the word before the arrow is the one "
    "it reads."
)
_READ: Final = said(
    "A row is named after the word in bold, which the model reads there; after the arrow is what it writes."
)


def rows_said(trace: "Trace", site: str) -> str:
    """What a row named "die → Straße" stands for, as a sentence; "" where rows are tokens alone."""
    if not trace.written_tokens(site):
        return ""
    return _(_WRITE) if trace.rows_write(site) else _(_READ)


def rows_said_plainly(trace: "Trace", site: str) -> str:
    """The same where nothing can be bold."""
    if not trace.written_tokens(site):
        return ""
    if trace.rows_write(site):
        return _("A row belongs to the word after the arrow, which the model writes there.")
    return _("A row belongs to the word before the arrow, which the model reads there.")


def row_labels(trace: "Trace", site: str) -> list[str]:
    """How each query row is listed: its position and its name."""
    return numbered(trace.row_names(site))


def step_labels(trace: "Trace") -> list[str]:
    """How each step is listed: its position, the token that it reads and the one that it writes."""
    site = DECODER if DECODER in trace.sites else CROSS
    return numbered(trace.row_names(site)[trace.rows_before :])


def numbered(names: Sequence[str]) -> list[str]:
    """Each with its position before it, since a piece may occur twice."""
    return [f"{position} · {name}" for position, name in enumerate(display_tokens(names), start=1)]


#: Shown where the other text has words and this one none.
MISSING: Final = "∅"


def pieces(spans: "Iterable[WordSpan]") -> tuple[tuple[str, bool], ...]:
    """The words of the second of two texts in reading order, each run with whether the first has something else.

    `MISSING` stands where the words of the first would stand, with a space before and after it as they have.
    """
    made: list[tuple[str, bool]] = []
    is_after_gap = False
    for span in spans:
        text = span.second_text or _like(span.first_text, MISSING)
        made.append((_like(span.first_text, text) if is_after_gap else text, not span.is_same))
        is_after_gap = not span.second
    return tuple(made)


def _like(model: str, text: str) -> str:
    """A text with a space before it if a model has one, or it has one itself."""
    return f" {text}" if model.startswith(" ") and not text.startswith(" ") else text


def marked(spans: "Iterable[WordSpan]") -> Marked:
    """The second of two texts, marked where the first has something else."""
    return Marked(pieces(spans))
