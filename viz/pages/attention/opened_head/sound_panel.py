"""The open cross-attention of a sound: each token written over time, below the waveform, with a player."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Final

import numpy as np
import streamlit as st
from jaxtyping import Float, Float32, Int16, UInt8

from viz import theme
from viz.access import attention, models, word_times
from viz.access.attention import MatrixView
from viz.access.word_times import TimedWord
from viz.pages.attention.opened_head.spectrogram import log_mel
from viz.pictures import focus, payload
from viz.pictures.component import Component
from viz.pictures.offline import Part
from viz.pictures.payload import CHOSEN, Tokens, hear
from viz.selection import state
from viz.selection.choices import Common
from viz.server.caches import cached
from viz.text.html import Column, table
from viz.text.messages import _, said, shown
from viz.text.written import CROSS, file_name, head_label, head_name
from viz.ui import downloads, finding, frame, terms
from viz.ui.head_metrics import MEASURES

if TYPE_CHECKING:
    from model import Reader, Trace

STRETCH: Final = 0.8
"""Of a row's weight on the sound, what the stretch holds that is marked and played."""
COMPONENT: Final = Component(
    "pages/attention/opened_head/sound_attention.js", "pages/attention/opened_head/sound_attention.css"
)


@dataclass(frozen=True, eq=False, kw_only=True)
class SoundData:
    """What there is to draw and to play."""

    samples: Int16[np.ndarray, "sample"]  #: the sound as the model read it
    spectrogram: UInt8[np.ndarray, "band column"]  #: `log_mel`, over the length of the sound
    weights: Float32[np.ndarray, "row frame"]  #: one head's, on the frames that begin before the sound ends
    after: Float32[np.ndarray, "row"]  #: what each row gives to the frames after the sound, together
    rate: int  #: samples a second
    seconds_per_frame: float
    is_filled: bool  #: whether there are frames after the sound
    row_tokens: Tokens
    rows_write: bool  #: whether a row is named by what it reads and what it writes, "because → it"
    rows: focus.FocusAxis  #: the tokens that rows stand for
    number: str  #: what a weight is called
    title: str
    words: tuple[TimedWord, ...] = ()  #: that are written, at their times; none where these are not known
    file_name: str = "sound"  #: of saved pictures, without their ending
    stops: tuple[str, ...] = theme.SEQUENTIAL
    ticks: tuple[float, ...] = theme.SQRT_TICKS
    sound_colour: str = theme.ORANGE
    token_colour: str = theme.BLUE
    kept: Annotated[int | None, CHOSEN]  #: the row that is kept

    def __post_init__(self) -> None:
        assert len(self.weights) == len(self.after) == len(self.row_tokens), "a name and a rest for each row"

    def derived(self) -> dict[str, object]:
        """The stretches of all rows, how much each holds, and the bands of the spectrogram."""
        stretches = [shortest_stretch(row, STRETCH) for row in self.weights]
        return {"stretches": stretches, "share": STRETCH, "bands": len(self.spectrogram)}


def shortest_stretch(weights: Float[np.ndarray, "frame"], share: float) -> tuple[int, int]:
    """The shortest run of frames with this share of all weight, the first of several: [first, end); (0, 0) of none."""
    sums = np.concatenate([[0.0], np.cumsum(weights, dtype=np.float64)])
    if not sums[-1]:
        return 0, 0
    # Of each beginning, the first end by which there is enough; beyond the last frame where there never is.
    ends = np.searchsorted(sums, sums[:-1] + share * sums[-1])
    lengths = np.where(ends < len(sums), ends - np.arange(len(ends)), len(sums))
    first = int(lengths.argmin())
    return first, int(ends[first])


def show_sound(trace: "Trace", site: str) -> None:
    """The open head's rows over the time of the sound that was read; nothing of another source, or of the encoder's own
    attention, which has no tokens.
    """
    selection = state.current()
    common = selection.common
    # Norms of frames do not add up to one of a stretch.
    if trace.source.waveform is None or site != CROSS or not MEASURES[common.measure].is_share:
        return
    queries, _keys = attention.shown_axes(trace, site, MatrixView.of(common))
    if not queries.labels:
        return
    kept, _key = finding.kept(trace)
    row = None if kept is None else queries.index_of(kept)

    def keep(chosen: int) -> None:
        token = None if chosen == row else queries.groups[chosen][0]
        # The heads of a cell were looked for, and lines were drawn around it; now it is another one.
        state.change(token=token, head_chosen=True, from_words=(), to_words=(), window_start=None)

    reader = models.text_reader(selection.model)
    heads = word_times.chosen_heads(reader, selection)
    why_none = word_times.why_none(reader) if word_times.are_there(trace) else said("No words were written.")
    words = () if why_none else word_times.timed_words(trace, heads).words
    data = replace(over_time(trace, models.reader(selection.model), common, row), words=words)
    sound_attention(data, on_keep=keep, key="sound-head")
    frame.caption(
        "Each row is a token that is written, each column a moment of the sound; the lighter, the more weight. Click a "
        "row to keep it, the waveform to play from there. Keys: arrows move, Enter keeps a row, H plays what it "
        "attends to, Space plays everything. Below is the same head as a matrix."
    )
    with st.expander(_("Words and their times"), key="word-times"):
        if why_none:
            terms.caption(_(why_none))
        else:
            _show_words(reader, words, heads)


def _show_words(reader: "Reader", words: Sequence[TimedWord], heads: word_times.Heads) -> None:
    """The choice of the heads that time the words, and the words."""
    own = word_times.own_heads(reader)
    codes = {word_times.code(head): head_label(*head) for head in word_times.heads_at(reader)}
    shown_codes = tuple(map(word_times.code, heads))
    label = _("Heads from which the word times are computed")
    st.multiselect(label, codes, format_func=codes.__getitem__, **state.bound("timed_by", shown_codes))
    if heads == own:
        frame.caption("These are the model's own alignment heads.")
    columns = Column(_("Word")), Column(_("Begins, s"), is_number=True), Column(_("Ends, s"), is_number=True)
    rows = [(word.word, f"{word.begin:.2f}", f"{word.end:.2f}") for word in words]
    st.html(table(columns, rows, label=_("Words and their times")))
    frame.caption(
        "The first word always begins at 0 s: this method puts it there whatever the heads attend to, so it is left "
        "out when times are scored. The Atlas scores all heads. Under “Export”, these times can be saved as SRT, VTT "
        "and TextGrid."
    )


def offer_word_times(trace: "Trace") -> None:
    """Offer the words of a sound with their times as subtitles and for Praat; nothing of another source."""
    if not word_times.are_there(trace):
        return
    st.markdown(_("**Words with their times**"))
    selection = state.current()
    reader = models.text_reader(selection.model)
    if why_none := word_times.why_none(reader):
        terms.caption(_(why_none))
        return
    heads = word_times.chosen_heads(reader, selection)
    labels = ", ".join(head_label(*head) for head in heads)
    inside = _(
        "one entry per word, with times computed from {heads}; the first word always begins at 0 s", heads=labels
    )
    downloads.show_offers(
        downloads.Offer(
            ending[1:],
            inside,
            partial(word_times.as_file, trace, heads, selection.model.given_file, ending),
            f"{file_name('words', sentence=trace.text)}{ending}",
        )
        for ending in word_times.endings()
    )


def over_time(trace: "Trace", reader: "Reader", common: Common, kept: int | None) -> SoundData:
    """The open head of a sound's cross-attention, exact, whatever its length."""
    wave, measure, view = trace.source.waveform, MEASURES[common.measure], MatrixView.of(common)
    assert wave is not None, "asked for of a sound"
    head = common.head if measure.is_per_head else 0
    queries, keys = attention.shown_axes(trace, CROSS, view)
    assert len(keys.labels) == len(trace.source_tokens), "a frame is neither a part of a word nor special"
    if attention.is_long(trace, CROSS):
        source = attention.long_head(trace, reader, CROSS, common.layer, head, view).source
        values = source.pooled(slice(0, None), slice(0, None), (1, 1))
    else:
        values = attention.opened_layer(trace, reader, CROSS, common.layer, view).values[head]
    sounding = min(len(keys.labels), wave.frames)
    return SoundData(
        samples=wave.samples.numpy(),
        spectrogram=_spectrogram(trace),
        weights=values[:, :sounding],
        after=values[:, sounding:].sum(1),
        rate=wave.rate,
        seconds_per_frame=wave.seconds_per_frame,
        is_filled=sounding < len(keys.labels),
        row_tokens=queries.labels,
        rows_write=trace.rows_write(CROSS),
        rows=focus.grouped(attention.focus_axes(trace, CROSS)[0], queries.groups),
        number=shown(measure.number),
        title=head_label(common.layer, head if measure.is_per_head else None),
        file_name=file_name("sound", head_name(CROSS, common.layer, head), sentence=trace.text),
        kept=kept,
    )


def part(trace: "Trace", reader: "Reader", common: Common, kept: int | None) -> Part | None:
    """The same for a page without a server; None of another source."""
    if trace.source.waveform is None or CROSS not in trace.sites:
        return None
    return Part(COMPONENT, payload.pack(over_time(trace, reader, common, kept)))


@cached(max_entries=16)
def _spectrogram(trace: "Trace") -> UInt8[np.ndarray, "band column"]:
    wave = trace.source.waveform
    assert wave is not None, "asked for of a sound"
    drawn = log_mel(wave.samples.numpy(), wave.rate)
    drawn.setflags(write=False)
    return drawn


def sound_attention(data: SoundData, *, on_keep: Callable[[int], object], key: str) -> None:
    """Show a sound with the rows of a head; `on_keep` is called with a row that a person clicks, kept or not."""
    COMPONENT.show(data, key=key, keep=hear(on_keep, int, row=range(len(data.row_tokens))))
