"""The step that is shown and the word that is chosen go along with each other, on this page and from and to others.

A word of what was written is chosen by the step that writes it, and opens that step. Other pages show the model's own
translation: of another one, a branch, they know a word as long as all up to it is the same.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import TYPE_CHECKING, Final

import streamlit as st

from viz.access import attention, models, texts, traces
from viz.selection import state
from viz.text.messages import _
from viz.text.written import CROSS, display_token
from viz.ui import words
from viz.ui.controls import plain
from viz.ui.words import NOTHING, Chosen

if TYPE_CHECKING:
    from model import Trace

_LAST: Final = "decoding/step-and-words"
_OWN: Final = "decoding/own-words"


@dataclass(frozen=True, slots=True)
class _Last:
    """What was chosen when both were brought together last."""

    step: tuple[str, int] | None  #: of which translation, which step; None where the page proposed it
    looking: tuple[int, ...]  #: the positions of the tokens of the words that look


@dataclass(frozen=True, slots=True)
class _OwnWords:
    """Words of a branch that other pages do not know, as long as what they know is the same."""

    trace_key: str
    told: Chosen  #: what the selection, and so other pages, have of them
    chosen: Chosen


def follow(trace: "Trace") -> None:
    """Bring the step and the chosen word together; of both, what a person changed last decides."""
    common, last = state.current().common, st.session_state.get(_LAST)
    step, looking = _step(trace), _looking(trace)
    steps = [at for position in looking if 0 <= (at := position - trace.rows_before - 1) < len(trace.steps)]
    if step is None or common.step not in steps:
        has_words = any(words.chosen_in(trace)) or bool(looking)
        has_stepped = step is not None and (not has_words if last is None else step != last.step)
        if has_stepped:
            _choose_word(trace, common.step)
        elif steps and (last is None or looking != last.looking or step is None):
            state.change(step=steps[0])
    st.session_state[_LAST] = _Last(_step(trace), _looking(trace))


def chosen_in(trace: "Trace") -> Chosen:
    """The words of this translation that a person has chosen, as `viz.ui.words.chosen_in`."""
    own: _OwnWords | None = st.session_state.get(_OWN)
    held = state.current().common
    if own is not None and own.trace_key == trace.key and own.told == (held.from_words, held.to_words):
        return own.chosen
    known = words.chosen_in(trace)
    return known if all(_is_shared(trace, word) for side in known for word in side) else NOTHING


def keep(trace: "Trace", chosen: Chosen) -> None:
    """Keep the words of this translation that a person has chosen; other pages hear of those that they know."""
    looking, looked_at = (tuple(word for word in side if _is_shared(trace, word)) for side in chosen)
    told = (looking, looked_at) if looking else NOTHING
    _tell(trace, told, chosen, None)


def not_elsewhere(trace: "Trace") -> str:
    """Why no other page shows the chosen word, or no step writes it, as a sentence; "" where that is not so."""
    common, looking = state.current().common, _looking(trace)
    word = texts.words(trace).at(looking[0], is_source=False) if looking else None
    if word is not None and max(looking) <= trace.rows_before:
        return _("“{word}” was given to the model, so no step writes it.", word=plain(texts.name_of(trace, word)))
    if not common.step_chosen:
        return ""
    token = plain(display_token(trace.steps[common.step].token))
    if CROSS not in trace.sites:
        return _("The Attention page shows only the text: “{word}” was written after it.", word=token)
    if common.step < num_shared(trace):
        return ""
    return not_chosen(trace.steps[common.step].token)


def not_chosen(token: str) -> str:
    """Why no other page shows a token that was written after other ones than the model's own."""
    message = (
        "The Attention page shows the model's own translation, which does not contain “{word}”, so it is not "
        "chosen there."
    )
    return _(message, word=plain(display_token(token)))


def begins_with(trace: "Trace", token_ids: Sequence[int]) -> bool:
    """Whether what was written begins with these tokens."""
    return tuple(step.token_id for step in trace.steps[: len(token_ids)]) == tuple(token_ids)


def num_shared(trace: "Trace") -> int:
    """How many steps from the first on write what the model's own translation has there."""
    pairs = zip(trace.steps, _own(trace).steps, strict=False)
    return sum(1 for _pair in takewhile(lambda pair: pair[0].token_id == pair[1].token_id, pairs))


def _step(trace: "Trace") -> tuple[str, int] | None:
    common = state.current().common
    return (trace.key, common.step) if common.step_chosen else None


def _looking(trace: "Trace") -> tuple[int, ...]:
    """The positions of the decoder's tokens that a person looks from: chosen words, or else a kept row."""
    common, known = state.current().common, texts.words(trace)
    if (looking := chosen_in(trace)[0]) or any(words.chosen_in(trace)):
        return tuple(at for word in looking if not known.is_source(word) for at in known.groups[word])
    if common.token is None or common.site not in trace.sites:
        return ()
    rows, _keys = attention.focus_axes(trace, common.site)
    position = common.token + rows.ahead
    return (position,) if rows.side == "target" and position <= trace.rows_before + num_shared(trace) else ()


def _choose_word(trace: "Trace", step: int) -> None:
    """Choose the word that a step writes; where it writes a token that is no word, as the end, its row."""
    position = trace.rows_before + 1 + step
    word = texts.words(trace).at(position, is_source=False)
    chosen = NOTHING if word is None else ((word,), ())
    if step >= num_shared(trace):
        _tell(trace, NOTHING, chosen, None)
        return
    known = texts.words(_own(trace))
    told = known.at(position, is_source=False)
    if told is None or known.groups[told][0] <= trace.rows_before:
        # No word, or one that was given in part, which other pages know without the rest.
        _tell(trace, NOTHING, chosen, position)
    else:
        _tell(trace, ((told,), ()), chosen, known.groups[told][0])


def _tell(trace: "Trace", told: Chosen, chosen: Chosen, position: int | None) -> None:
    """Keep what other pages know, with its row in the attention that is open, and what this page shows."""
    row, site = None, state.current().common.site
    if position is not None and CROSS in trace.sites and site in trace.sites:
        rows, _keys = attention.focus_axes(trace, site)
        row = position - rows.ahead if rows.side == "target" else None
    state.change(from_words=told[0], to_words=told[1], token=row, key_token=None)
    st.session_state[_OWN] = _OwnWords(trace.key, told, chosen)


def _is_shared(trace: "Trace", word: int) -> bool:
    """Whether the model's own translation has this word, after the same ones."""
    known = texts.words(trace)
    if known.is_source(word):
        return True
    group = known.groups[word]
    return group[-1] <= trace.rows_before + num_shared(trace) and group in texts.words(_own(trace)).groups


def _own(trace: "Trace") -> "Trace":
    """The model's own translation of the same text."""
    return traces.written(models.writer(state.current().model), trace.text)
