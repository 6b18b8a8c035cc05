"""Take a part out of a trained translator while it runs: positions, scaling, residual connections, norms, heads.

That is another thing than training without the part: all that is left was fitted to what is gone.
"""

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Final

import sacrebleu

from model.analysis.corpus import OWN_CORPUS, read_text
from model.interruption import Progress, no_progress
from model.parts.removal import PartOff
from model.reader import Writer

#: Texts that are translated side by side: few, so that progress is told often.
TEXTS_AT_ONCE: Final = 25


@dataclass(frozen=True)
class PartScore:
    """Translations without a part, against those of the whole model."""

    off: PartOff
    bleu: float  #: of the translations without it, with the whole model's own as references: 100 where nothing changes
    unchanged: float  #: the share of the sentences whose translation stays the same


def translate_without(
    writer: Writer, texts: Sequence[str], off: PartOff | None, progress: Progress = no_progress
) -> list[str]:
    """The translations, decoded greedily, without a part; None for the whole model. Raises as `Parts.without`.

    `progress` is called with the number of sentences done since the last call; it may end the work by an exception.
    """
    written: list[str] = []
    with nullcontext() if off is None else writer.parts.without(off):
        for begin in range(0, len(texts), TEXTS_AT_ONCE):
            written += writer.translate_all(texts[begin : begin + TEXTS_AT_ONCE], progress=progress)
    return written


def score_without(writer: Writer, offs: Sequence[PartOff], progress: Progress) -> tuple[PartScore, ...]:
    """Translate our own corpus whole and without each of the parts, and compare. Progress and errors as above."""
    texts = [sentence.text for sentence in read_text(OWN_CORPUS)]
    whole = translate_without(writer, texts, None, progress)
    scores = []
    for off in offs:
        without = translate_without(writer, texts, off, progress)
        bleu = sacrebleu.BLEU().corpus_score(without, [whole]).score
        same = sum(one == other for one, other in zip(without, whole, strict=True))
        scores.append(PartScore(off, bleu, same / len(whole)))
    return tuple(scores)
