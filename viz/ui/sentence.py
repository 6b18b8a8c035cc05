"""Read a sentence with the chosen model, and show it above a figure beside what the model wrote."""

import re
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final
from unicodedata import east_asian_width

import streamlit as st

from viz.access import models, texts, traces
from viz.selection import state
from viz.selection.examples import examples_in
from viz.server.background_jobs import Task
from viz.text.html import literal
from viz.text.language import NAMES, other_language
from viz.text.messages import _, plural, said, shown
from viz.text.written import CROSS
from viz.theme import ROLE_COLOURS
from viz.ui import frame, long_work, terms
from viz.ui.controls import plain

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

    from model import Trace

WRITING: Final = said("Writing: {done} of at most {total} tokens")
READING: Final = said("Reading: {done} of {total} layers")
#: A text longer than this is shown with its end cut off; the figure below shows all of it.
MAX_SHOWN: Final = 3_000
#: One of more characters, of which those of Chinese count twice, can take more than two lines.
LONG: Final = 70
MAX_SHOWN_WORDS: Final = 150


#: So few words may be narrower than the name of their role.
_FEW_WORDS: Final = 3
_MARK: Final = "font-size:0.75rem;letter-spacing:0.08em;opacity:0.65"


@dataclass(frozen=True, slots=True)
class Line:
    """A text above a figure."""

    mark: str  #: what it is
    language: str  #: its language; "" if nobody knows
    text: str  #: as typed or written
    #: the words that the model barely knows, which are marked.
    rare: texts.RareWords = field(default_factory=texts.RareWords)
    #: of a text that was read as a chat, or as a pair, its words by their roles, which are shown instead of it.
    chat: tuple[texts.ChatPart, ...] = ()


def read_and_show(text: str, head: "DeltaGenerator") -> "Trace":
    """Translate, with a placeholder meanwhile, and show both sides in the head; a HeadlightError if that fails."""
    trace = read(text)
    show(trace, head)
    return trace


def show(trace: "Trace", head: "DeltaGenerator") -> None:
    """What the model read and what it wrote, beside the title of the page (`viz.ui.frame.title`)."""
    head.html(lines_html(lines_of(trace)))
    show_cautions(trace, head)


def show_cautions(trace: "Trace", head: "DeltaGenerator") -> None:
    """What makes the translation doubtful, below the sentence."""
    for caution in cautions(lines_of(trace)[0]):
        head.caption(terms.explained(caution))
    choice = state.current().model
    if why := texts.why_no_roles(trace, choice):
        head.caption(terms.explained(plain(why)))
    offered = models.offered(choice)
    is_named = choice.writes or offered.chosen[1] or trace.text.startswith(">>")
    if models.reads(choice) == "text" and len(offered.writes) > 1 and not is_named:
        message = (
            ":material/warning: This model writes {count:,} languages, and the text names none: choose one on the "
            "left, or begin the text with >>{code}<<."
        )
        head.caption(terms.explained(_(message, count=len(offered.writes), code=offered.writes[0])))


def in_another_language(text: str, known: str) -> str:
    """That a text is not in the language of this code, which a model reads, as Markdown; "" if it seems to be."""
    language = other_language(text, known) if known in NAMES else ""
    message = ":material/warning: This looks like {language}. The model has learned to read only {known}."
    return _(message, language=language, known=NAMES[known]) if language else ""


def cautions(source: Line) -> list[str]:
    """What makes a translation doubtful, as Markdown: another language, or words that the model barely knows."""
    doubts = []
    # Of the examples in its language the check would only cost time.
    is_example = any(source.text in (example.text, example.twin) for example in examples_in(source.language))
    language = "" if is_example else in_another_language(source.text, source.language)
    if language:
        doubts.append(language)
    if source.rare.are_most:
        # Of another language this says no more than its name.
        if not language:
            doubts.append(
                _(
                    ":material/warning: The model does not know most of these words: it reads them as letters, bytes "
                    "or short tokens, and may write nonsense. Use common words, not all in capitals."
                )
            )
    elif source.rare.pieces:
        doubts.append(_("Dotted words are rare: they are not in the vocabulary as whole words, only as short tokens."))
    return doubts


def lines_of(trace: "Trace") -> list[Line]:
    """What the model read, and what it wrote if it wrote anything, each called what it is."""
    if (caption := trace.source.caption) is not None:
        return [Line(shown(caption[0]), "", shown(trace.text)), Line("", "", shown(caption[1])), *_written(trace)]
    if CROSS in trace.sites:
        model = state.current().model
        (source, target), byte_ids = models.languages(model), models.reader(model).byte_ids
        are_bytes = [token_id in byte_ids for token_id in trace.source_ids]
        rare = texts.rare_words(trace.source_tokens, are_bytes, trace.special_tokens)
        return [
            Line(source.upper() or _("SOURCE"), source, trace.text, rare),
            Line(target.upper() or _("TARGET"), target, trace.translation or _("(only special tokens)")),
        ]
    written = _written(trace)
    if trace.roles:
        answer = texts.ChatPart("assistant", tuple(trace.translation.split())[:MAX_SHOWN_WORDS])
        mark = _("CHAT") if trace.target_tokens else _("PAIR")
        read = Line(mark, "", trace.text, chat=texts.chat_parts(trace, MAX_SHOWN_WORDS))
        return [read, *(replace(line, chat=(answer,)) for line in written)]
    return [Line(_("TEXT"), "", trace.text), *written]


def _written(trace: "Trace") -> list[Line]:
    return [Line(_("WRITTEN"), "", trace.translation)] if trace.translation else []


def read(text: str, key: str = "trace") -> "Trace":
    """What the chosen model did with a text, with a placeholder for the figure meanwhile. Raises as `read_and_show`.

    The key is another one for each text of a page.
    """
    selection = state.current()

    def compute(progress: traces.Progress) -> "Trace":
        return traces.trace(models.attending(selection.model), text, progress)

    writes = models.kind(selection.model) == "encoder-decoder"
    return computed(("read", text), compute, key, WRITING if writes else READING)


def computed(
    what: Hashable, compute: Callable[[traces.Progress], "Trace"], key: str, progress_text: str = WRITING
) -> "Trace":
    """The trace that `compute` makes, with a placeholder meanwhile, and with progress where that takes long.

    `compute` runs in another thread, which sees no session; `what` tells its trace from others of the chosen model, and
    `key` from others that the page waits for. `progress_text` is `WRITING` or `READING`.
    """
    selection = state.current()
    unit = said("tokens") if progress_text == WRITING else said("layers")
    task = Task((what, selection.model), 0, unit, lambda progress: compute(progress.reached), progress_text)
    above = st.container()
    with st.skeleton(height=frame.SKELETON_HEIGHT), above:
        return long_work.awaited(task, key=key, meanwhile=frame.loading(_("Reading …")))


def lines_html(lines: Sequence[Line]) -> str:
    """A sentence above its translation. All lines are escaped; each takes its own writing direction.

    However long they are, a chat and its answer are two lines tall together: the rest scrolls.
    """
    made = (_chat(line, is_alone=len(lines) == 1) if line.chat else _line(line) for line in lines)
    return (
        '<div style="display:grid;grid-template-columns:max-content minmax(0,1fr);column-gap:0.9rem;'
        'align-items:baseline;line-height:1.4">' + "".join(made) + "</div>"
    )


def _chat(line: Line, *, is_alone: bool) -> str:
    """A line of a chat: alone two lines tall, beside another one only one, which scrolls sideways."""
    # A window of one line upon several would come to rest between two of them. The film knows the line by its attribute
    # and leaves it the arrow keys.
    sideways = "" if is_alone else " data-scrolls-sideways"
    scrolls = (
        "max-height:calc(4.2em + 0.6rem);overflow-y:auto;overflow-wrap:anywhere"
        if is_alone
        else "white-space:nowrap;overflow:auto hidden;scrollbar-width:thin"
    )
    return (
        f'<span aria-hidden="true" style="{_MARK}">{line.mark}</span>'
        f'<span dir="auto"{sideways} style="font-size:1.1rem;line-height:2.1;padding-top:0.6rem;'
        f'box-sizing:border-box;{scrolls}">'
        f"{' '.join(map(_part, line.chat))}</span>"
    )


def _line(line: Line) -> str:
    shown = " ".join(line.text.split())
    cut = replace(line, text=shown if len(shown) <= MAX_SHOWN else shown[:MAX_SHOWN] + " …")
    size = f"font-size:{'var(--words, 1.1rem)' if line.mark else '0.9rem'};overflow-wrap:anywhere"
    words = with_rare_words(cut)
    if sum(2 if east_asian_width(character) in "WF" else 1 for character in shown) > LONG:
        # Two lines are in sight, a press shows the rest: the head must not push the picture off the screen.
        words = f'<details class="long-text"><summary>{words}</summary></details>'
    return (
        f'<span aria-hidden="true" style="{_MARK}">{line.mark}</span>'
        f'<span lang="{line.language}" dir="auto" style="{size}">{words}</span>'
    )


def _part(part: texts.ChatPart) -> str:
    """Words of one role below its name and a bar in its colour; what the template wrote, paler."""
    words = " ".join(map(literal, part.words))
    if not part.role:
        return f'<span style="opacity:0.66">{words}</span>'
    few = "display:inline-block;min-width:3.4em;line-height:1.35;" if len(part.words) < _FEW_WORDS else ""
    return (
        f'<span role="group" aria-label="{part.role}" style="position:relative;{few}padding-top:1px;'
        f"border-top:3px solid {ROLE_COLOURS[part.role]};box-decoration-break:clone;-webkit-box-decoration-break:clone"
        '"><span aria-hidden="true" style="position:absolute;left:0;top:-1.15rem;font-size:0.75rem;line-height:1rem;'
        f'white-space:nowrap;user-select:none">{part.role}</span>{words}</span>'
    )


def with_rare_words(line: Line, begin: int = 0, end: int | None = None) -> str:
    """The characters [begin, end) of a line as HTML, its rare words underlined."""
    if not line.rare.pieces:
        return literal(line.text[begin:end])
    parts = []
    for run in re.finditer(r"\s+|\S+", line.text):
        part = line.text[max(run.start(), begin) : run.end() if end is None else min(run.end(), end)]
        pieces = line.rare.pieces.get(run[0])
        parts.append(literal(part) if not part or pieces is None else _underlined(part, pieces))
    return "".join(parts)


def _underlined(word: str, pieces: int) -> str:
    count = plural("{count} token", "{count} tokens", pieces)
    style = "background:none;color:inherit;text-decoration:underline dotted;text-underline-offset:0.2em"
    return f'<mark style="{style}" title="{literal(count)}">{literal(word)}</mark>'
