"""Two models on the same texts, and how far their heads are apart."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float

from viz.server.background_jobs import Progress, Task
from viz.server.caches import cached
from viz.text.messages import said

if TYPE_CHECKING:
    from model import Reader, Trace
    from model.analysis.two_models import HeadDistances
    from model.analysis.word_diff import WordSpan
    from model.trace.axes import Axis

MAX_PAIRS = 8


@dataclass(frozen=True, eq=False)
class HeadPicture:
    """The weights of one head between the words of a text."""

    weights: Float[np.ndarray, "row column"]
    queries: "Axis"
    keys: "Axis"


def sites_of(first: "Reader", second: "Reader") -> dict[str, str]:
    """Attention of the first model → the one of the second that is compared with it."""
    from model.analysis.two_models import sites_of

    return sites_of(first, second)


@cached(max_entries=MAX_PAIRS)
def read_by_both(first: "Reader", second: "Reader", text: str) -> "tuple[Trace, Trace]":
    """The traces whose heads are compared. Raises what the models do."""
    from model.analysis.two_models import read_by_both

    return read_by_both(first, second, text)


def own_sentences() -> tuple[str, ...]:
    """The sentences that ship."""
    from model.analysis.corpus import OWN_CORPUS, read_text

    return tuple(sentence.text for sentence in read_text(OWN_CORPUS))


def distances(first: "Reader", second: "Reader", texts: Sequence[str], sites: tuple[str, str]) -> Task["HeadDistances"]:
    """How far each head of an attention of the first model is from each of the second's."""

    def compute(progress: Progress) -> "HeadDistances":
        from model.analysis.two_models import head_distances

        return head_distances(first, second, texts, sites, progress)

    key = ("two models", first.key, second.key, tuple(texts), sites)
    return Task(key, len(texts), said("sentences"), compute)


def head_picture(trace: "Trace", site: str, layer: int, head: int) -> HeadPicture:
    """A head's weights between whole words, special tokens left out."""
    from model.analysis.two_models import words_of
    from model.trace.axes import between

    queries, keys = words_of(trace, site)
    return HeadPicture(between(trace.weights(site, layer, [head]), queries, keys)[0].numpy(), queries, keys)


def written_differences(first: str, second: str) -> tuple["WordSpan", ...]:
    """What two models wrote, word by word."""
    from model.analysis.word_diff import word_diff

    return word_diff(first, second)
