"""Teacher forcing: the decoder over a reference and over its own words, as two films at the same position (§3.1)."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated, Final

import streamlit as st

from viz import theme
from viz.access import models
from viz.pages.learn.explore.data import training as data
from viz.pages.learn.explore.data.training import ForcedStep, FreeStep, TwoRuns
from viz.pictures.component import Component, play
from viz.pictures.payload import fingerprint, read
from viz.selection import state
from viz.text.messages import _
from viz.text.written import display_token, file_name
from viz.ui import finding, frame, terms
from viz.ui.controls import plain
from viz.ui.snippets import Snippet, line, of_text

if TYPE_CHECKING:
    from model import Trace
    from model.reader import Writer

_FOLDER: Final = "pages/learn/explore"
_COMPONENT: Final = Component(f"{_FOLDER}/two_films.js", f"{_FOLDER}/two_films.css")
_APART: Final = theme.HEAD_COLOURS[1]


@dataclass(frozen=True)
class FilmsState:
    """The current position of both films, from 0."""

    step: int


def _shown(step: ForcedStep | FreeStep) -> dict[str, object]:
    """A step with its tokens as they are drawn."""
    return {name: display_token(value) if isinstance(value, str) else value for name, value in asdict(step).items()}


@dataclass(frozen=True, slots=True)
class TwoFilms:
    """The steps of both films; `name` is that of saved pictures, without step and ending."""

    forced: Sequence[Annotated[ForcedStep, _shown]]
    free: Sequence[Annotated[FreeStep, _shown]]
    name: str
    apart: str = _APART


def two_films(runs: TwoRuns, asked: FilmsState, *, key: str, name: str) -> FilmsState | None:
    """Show both films, where the page wants them; return where they stand once a person has moved them."""
    steps = range(max(len(runs.forced), len(runs.free)))
    return play(
        _COMPONENT,
        TwoFilms(runs.forced, runs.free, name),
        asked=asked,
        read=partial(read, FilmsState, step=steps),
        digest=fingerprint(runs.key),
        key=key,
    )


@frame.fragment
def show(trace: "Trace") -> None:
    """Show the reference, and both runs as films at the same position."""
    if frame.lacking(models.abilities(state.current().model), "teacher forcing"):
        return
    translator = models.writer(state.current().model)
    proposed = _proposed(translator, trace)
    st.text_input(
        _("Reference translation, which the decoder reads"),
        **state.bound("forced_reference", state.current().learn.forced_reference or proposed.text),
    )
    runs = data.two_runs(translator, trace, asked_reference(translator, trace))
    last = max(len(runs.forced), len(runs.free)) - 1
    step = state.current().learn.forced_step
    if step is not None and step > last:
        step = last
        state.correct(forced_step=step)
    moved = two_films(
        runs,
        FilmsState(runs.parting if step is None else step),
        key="two-films",
        name=file_name("teacher forcing", sentence=trace.text),
    )
    if moved is not None and moved.step != step:
        state.change(forced_step=moved.step)
    terms.markdown(_forcing_in_words(runs))
    frame.caption(
        "The positions run from left to right, one per step; the arrow keys move both films, Space plays them. "
        "In training the decoder reads the reference, whatever it would have written: all positions can be "
        "computed at once, and a mistake affects no later position. When it writes freely, the decoder reads its own "
        "output. **Framed** in the upper film: predictions that differ from the reference; in the lower film: tokens "
        "read that are not in the reference."
    )


def python(trace: "Trace") -> Snippet:
    """The reference read along, and the probabilities of its tokens."""
    if not models.abilities(state.current().model).has("teacher forcing"):
        return ""
    reference = asked_reference(models.writer(state.current().model), trace)
    if isinstance(reference, str):
        forced = line("forced = reader.trace({}, {})", trace.text, reference)
    else:
        forced = line("forced = reader.trace_tokens({}, {})", trace.text, list(reference.token_ids))
    log_probs = "log_probs = [step.log_prob for step in forced.steps]  # of the reference's tokens"
    return of_text(trace, {}, forced, log_probs)


def _proposed(translator: "Writer", trace: "Trace") -> data.OtherTranslation:
    """The reference that the page proposes: where the finding's word is written, the second-best one is taken."""
    link = finding.of(trace).link
    step = None if link is None or link.step is None or link.step >= len(trace.steps) else link.step
    return data.other_translation(translator, trace, step)


def asked_reference(translator: "Writer", trace: "Trace") -> str | data.OtherTranslation:
    """The reference that the decoder is made to read: a person's, or the page's, with its tokens."""
    typed, proposed = state.current().learn.forced_reference, _proposed(translator, trace)
    return typed if typed not in ("", proposed.text) else proposed


def _forcing_in_words(runs: data.TwoRuns) -> str:
    if not runs.differ:
        return _(
            "The two films agree throughout: the model writes the reference by itself. On the reference the loss is "
            "{loss:.3f} nats per token.",
            loss=runs.loss,
        )
    forced = runs.forced[runs.parting]
    return _(
        "The films diverge at position {number}: the reference has “{asked}”, to which the model gives "
        "probability {probability:.4f}; the model writes “{written}” and reads other words from there on. On the "
        "reference the loss is {loss:.3f} nats per token.",
        number=runs.parting + 1,
        asked=plain(forced.asked),
        probability=forced.probability,
        written=plain(runs.free[runs.parting].written),
        loss=runs.loss,
    )
