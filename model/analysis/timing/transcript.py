"""What was written about a sound, and where each cross-attention head looked meanwhile, ready to be warped."""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Final, NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from model.analysis.timing.warping import first_frames, smoothed
from model.analysis.timing.word_times import WordTime
from model.errors import TraceError
from model.sources.source import SoundSource
from model.trace.axes import whole_words
from model.trace.trace import Trace

SITE: Final = "decoder.cross"


class WrittenWord(NamedTuple):
    """A word that was written, the row that writes its first token, and the row after that of its last."""

    text: str
    first: int
    after: int


@dataclass(frozen=True, eq=False, kw_only=True)
class Transcript:
    """What was written about one sound, and where each head looked meanwhile."""

    name: str
    words: tuple[WrittenWord, ...]
    #: of all heads, layer by layer, as `warping.smoothed` gives them. The rows write the words and the end of the text.
    matrices: Float[Tensor, "head row frame"]
    frame_seconds: float  #: how long a frame lasts
    begin: float = 0.0  #: second of the recording at which the first frame begins
    given: tuple[WordTime, ...] = ()  #: what a person says; of the same recording

    @property
    def duration(self) -> float:
        """Seconds of sound that were read."""
        return self.matrices.size(-1) * self.frame_seconds

    @property
    def matched(self) -> list[tuple[int, int]]:
        """Index of a written word, and of the given word that it is; not of the first."""
        written, given = ([_spelling(word[0]) for word in words] for words in (self.words, self.given))
        blocks = SequenceMatcher(None, written, given, autojunk=False).get_matching_blocks()
        both = ((block.a + i, block.b + i) for block in blocks for i in range(block.size))
        return [(i, j) for i, j in both if i and written[i]]

    def of_set(self, heads: Sequence[int]) -> Float[Tensor, "1 row frame"]:
        """What is warped for several heads together."""
        return self.matrices[list(heads)].mean(0, keepdim=True)

    def starts(self, matrices: Float[Tensor, "head row frame"]) -> Float[Tensor, "head word"]:
        """Seconds of the recording at which each word begins, by these matrices."""
        return self._seconds(first_frames(matrices)[:, [word.first for word in self.words]])

    def row_times(self, heads: Sequence[int]) -> Float[Tensor, "row"]:
        """Seconds of the recording at which each row begins, by a set of heads."""
        return self._seconds(first_frames(self.of_set(heads))[0])

    def word_times(self, heads: Sequence[int]) -> tuple[WordTime, ...]:
        """The words with the times that a set of heads gives them: each ends where the row after it begins.

        Each has at least the frame that it begins in, which the next may share.
        """
        frames = first_frames(self.of_set(heads))[0].tolist()
        bounds = ((frames[word.first], (*frames, self.matrices.size(-1))[word.after]) for word in self.words)
        times = [self._seconds(torch.tensor([start, max(end, start + 1)])).tolist() for start, end in bounds]
        return tuple(WordTime(word.text, *both) for word, both in zip(self.words, times, strict=True))

    def errors(self, starts: Float[Tensor, "head word"]) -> Float[Tensor, "matched head"]:
        """Found minus given seconds of the words that are matched."""
        matched = self.matched
        given = torch.tensor([self.given[j].start for _i, j in matched])
        return starts[:, [i for i, _j in matched]].T - given[:, None]

    def _seconds(self, frames: Int[Tensor, "*any"]) -> Float[Tensor, "*any"]:
        return frames * self.frame_seconds + self.begin


def _spelling(word: str) -> str:
    return "".join(sign for sign in unicodedata.normalize("NFKC", word).casefold() if sign.isalnum())


def transcript_of(
    trace: Trace, given: Sequence[WordTime] = (), begin: float = 0.0, heads: Sequence[tuple[int, int]] | None = None
) -> Transcript:
    """What cross-attention did while a trace's words were written: these heads by layer and head, or all.

    Raises a TraceError if it is of no sound, or nothing was written. The frames of the silence that was filled in after
    the sound are left out. `given` and `begin` are as in `Transcript`.
    """
    source = trace.source
    if not isinstance(source, SoundSource) or SITE not in trace.sites or not trace.steps:
        raise TraceError("Word times need a recording and the words that a model with cross-attention wrote for it.")
    chosen = (
        [(layer, None) for layer in range(trace.layers_of(SITE))] if heads is None else [(i, [j]) for i, j in heads]
    )
    of_layers = (trace.weights(SITE, layer, own)[:, trace.rows_before :] for layer, own in chosen)
    written = whole_words(trace.written_tokens(SITE), trace.special_tokens)
    words = written.without_special_tokens(trace.special_tokens)
    return Transcript(
        name=trace.text,
        words=tuple(
            WrittenWord(label, group[0], group[-1] + 1) for label, group in zip(words.labels, words.groups, strict=True)
        ),
        matrices=torch.cat([smoothed(weights, source.sounding) for weights in of_layers]),
        frame_seconds=source.waveform.seconds_per_frame,
        begin=begin,
        given=tuple(given),
    )
