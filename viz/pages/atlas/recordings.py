"""Choose the recordings that the atlas of a speech model is made of, and show which heads keep time, alone and in sets.

What a person loaded stays in the session; the sounds themselves are kept with all that people gave.
"""

from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Final

import streamlit as st

from model.errors import HeadlightError
from viz.access import models
from viz.access.given_files import FILES
from viz.pages.atlas.data import recordings as data
from viz.pages.atlas.data.recordings import GivenRecording
from viz.selection import state
from viz.text.html import Column, table
from viz.text.messages import Message, _, plural, said
from viz.text.written import CROSS, NamedHead, decimal
from viz.ui import downloads, frame, given_file, long_work, terms
from viz.ui.controls import plain
from viz.ui.snippets import Snippet, of_model

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

    from model.analysis.atlas.measure import Atlas
    from model.analysis.metrics.estimates import Estimate
    from model.analysis.metrics.head_metrics import LayerHead
    from model.analysis.timing.scores import FoundSet, Timing, TimingScores

#: In the session: the files in the field, the recordings among them, and what is wrong with others.
_FILES, _LOADED, _BAD = "atlas-recordings", "atlas/recordings", "atlas/recordings-bad"
STRONGEST: Final = said("Recordings in which **{name}** of this head is highest")
IS_READ: Final = False
#: Of so many recordings an atlas is made without being asked for.
_FEW: Final = 2
_COLUMNS: Final = (
    Column(said("Heads")),
    Column(said("Error, s"), is_number=True),
    Column(said("Lag, s"), is_number=True),
    Column(said("Error minus lag, s"), is_number=True),
)


def given() -> tuple[GivenRecording, ...]:
    """The recordings that a person loaded; without any, the sound that is chosen on the left."""
    loaded: tuple[GivenRecording, ...] = st.session_state.get(_LOADED, ())
    return loaded or (data.chosen(state.current().model.given_file),)


def choose(text: str) -> None:
    """Choose the recording that an atlas calls so."""
    files = []
    for recording in given():
        # One that is not kept any more has no name; the others can be chosen.
        with suppress(HeadlightError):
            files += [recording.given_file] * (recording.name == text)
    given_file.choose(files[0] if files else "")


def measured(above: "DeltaGenerator") -> "Atlas | None":
    """The atlas of the recordings, once it is measured; until then, the means to measure it.

    Below it is said how well sets of heads keep time. Raises as `data.measuring`.
    """
    sets = st.container()
    with st.expander(_("Recordings"), key="atlas-corpus"):
        _field()
    recordings = given()
    with frame.loading():
        task = data.measuring(recordings, state.current().model)
    with above:
        label = plural("Measure {count:,} recording", "Measure {count:,} recordings", len(recordings))
        start = len(recordings) <= _FEW and models.weights_bytes(state.current().model) <= models.LARGEST_UNASKED
        result = long_work.outcome(task, label, key="atlas-recordings", button="primary", start=start)
    if result is None:
        return None
    with sets:
        _show_sets(result.timing, result.refused)
    return result.atlas


def python(*lines: str) -> Snippet:
    """Lines about `atlas`, measured over the example or over a folder of recordings with their word times."""
    read, package = "example_recording", "headlight"
    made = "atlas, timing, refused = measure_recordings(reader, [example_recording()])"
    if any(recording.given_file for recording in given()):
        read, package = "recordings_in", "headlight, pathlib"
        made = "atlas, timing, refused = measure_recordings(reader, recordings_in(pathlib.Path('FOLDER')))"
    return of_model({"analysis.timing.recordings": f"measure_recordings, {read}"}, made, *lines, package=package)


def _field() -> None:
    kind = FILES["sound"]
    sizes = kind.megabytes, kind.shared_megabytes

    def take() -> None:
        try:
            files = [(file.name, downloads.content(file, *sizes)) for file in st.session_state[_FILES]]
            loaded = data.load(files, state.current().model.given_file)
        except HeadlightError as error:
            loaded = (), (error.message,)
        st.session_state[_LOADED], st.session_state[_BAD] = loaded

    downloads.several(
        _("Recordings, each with a file of its word times"),
        key=_FILES,
        megabytes=sizes[0],
        shared=sizes[1],
        help_text=_(
            "At most {most} recordings (WAV, FLAC, OGG or MP3); the first 30 seconds of each are read. Word "
            "times are read from a file of the same name (speech.csv for speech.wav): TextGrid, SRT, VTT, JSON, "
            "or CSV with the columns word, start and end, in seconds. Word times without a recording belong to "
            "the sound chosen on the left.",
            most=data.MAX_RECORDINGS,
        ),
        on_change=take,
    )
    bad: Sequence[Message] = st.session_state.get(_BAD, ())
    if bad:
        st.warning(plain("  \n".join(map(_, bad))), icon=":material/rule:")
    timed = sum(bool(recording.words) for recording in given())
    if st.session_state.get(_LOADED):
        terms.caption(_("Recordings: {count}; with word times: {timed}.", count=len(given()), timed=timed))
    else:
        frame.caption(
            "If you give no files, the sound chosen on the left is read; the word times of the example are known."
        )


def _show_sets(timing: "TimingScores | None", refused: str) -> None:
    """How well sets of heads keep time: the model's own, and those that are found."""
    st.subheader(_("Heads aligned with time"), anchor=False)
    if refused:
        st.warning(plain(_(refused)), icon=":material/rule:")
    if timing is None:
        frame.note(
            "Without word times, errors are unknown. “Distance from other heads” shows how far the word starts of "
            "each head are from those of the model's own alignment heads or, if the model lists none, of all other "
            "heads: that is agreement, not accuracy. Load word times under “Recordings”."
        )
        return
    frame.caption(
        "Words: {words}; recordings: {sounds}; given words left out: {left_out}. Values are in seconds, with 95% "
        "intervals. Left out are the first word of each recording, which this method always puts at the beginning of "
        "the recording, and each word that the model wrote differently. A lag above 0 means that times are late; it "
        "can be subtracted when they are used.",
        words=timing.words,
        sounds=timing.sounds,
        left_out=timing.left_out,
    )
    best = int(timing.each.error.value.argmin())
    rows = [_row(_("Best head: {head}", head=NamedHead(CROSS, *timing.heads[best])), timing.each, best)]
    if timing.own is not None:
        rows.append(_row(_("The model's own alignment heads"), timing.own))
    rows += [_row(_(_FOUND[found.chosen_on - 1]), found.timing) for found in timing.found]
    rows.append(_row(_("Words spread evenly"), timing.evenly))
    st.html(table(_COLUMNS, rows, label=_("Heads aligned with time")))
    if timing.own is not None:
        _setting(_("The model's own alignment heads, as transformers writes it:"), timing.own_heads)
    for found in timing.found:
        _setting(_(_FOUND[found.chosen_on - 1]), found.heads)
        _say_gain(found)
    if not timing.found:
        frame.caption(
            "With four or more recordings with word times, Headlight also looks for sets of heads: a set is chosen on "
            "one half of the recordings and measured on the other."
        )


_FOUND: Final = (
    said("Found on the first half, measured on the second"),
    said("Found on the second half, measured on the first"),
)


def _setting(label: str, heads: "Sequence[LayerHead]") -> None:
    terms.caption(label)
    st.code(f'"alignment_heads": {[[head.layer, head.head] for head in heads]}', language="json")


def _say_gain(found: "FoundSet") -> None:
    if found.gain is None or found.gain_without_lag is None:
        return
    frame.caption(
        "The error of this set of heads is below that of the model's own alignment heads by {gain} s, and by "
        "{less_lag} s after subtracting the lag. If an interval contains 0, nothing was gained, which is a valid "
        "result.",
        gain=_interval(found.gain),
        less_lag=_interval(found.gain_without_lag),
    )


def _row(label: str, timing: "Timing", at: int = 0) -> tuple[str, ...]:
    return label, *(_interval(estimate, at) for estimate in (timing.error, timing.lag, timing.without_lag))


def _interval(estimate: "Estimate", *index: int) -> str:
    value, low, high = (decimal(number, 3) for number in estimate.at(*index))
    return _("{value} ({low} to {high})", value=value, low=low, high=high)
