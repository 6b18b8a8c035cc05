"""The model that lessons run on, and the words and heads that their files name."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from jaxtyping import Float

from model.errors import TraceError
from viz.access import findings, models, texts, traces
from viz.pages.learn.lessons.lesson import LessonFileError, OfHead
from viz.selection import catalogue
from viz.selection.choices import ModelChoice
from viz.text.messages import Message, said
from viz.text.written import CROSS, ENCODER, SITES, NamedHead, spoken

if TYPE_CHECKING:
    from model import Trace, Translator
    from model.sequence_translator import SequenceTranslator

#: A small model, by its folder → what it lacks or has instead.
PRESETS: Final[Mapping[str, Message]] = {
    "full": said("full"),
    "single-head": said("single head"),
    "two-heads": said("two heads"),
    "sixteen-heads": said("sixteen heads"),
    "unscaled": said("unscaled"),
    "no-positions": said("no positions"),
    "learned-positions": said("learned positions"),
    "no-residual": said("no residual"),
    "post-norm": said("post-norm"),
    "no-dropout": said("no dropout"),
    "no-smoothing": said("no smoothing"),
    "convolutional": said("convolutional"),
    "gru": said("GRU"),
    "gru-without-attention": said("GRU without attention"),
}
#: The head that is most worth seeing of the sentence, as the attention page opens on it.
FINDING: Final = "finding"


@dataclass(frozen=True, slots=True)
class Shipped:
    """The model that lessons run on (`models.lessons_name`), by its choice and loaded."""

    choice: ModelChoice
    translator: "Translator"

    def trace(self, text: str) -> "Trace":
        """What the model did with a sentence while it translated it."""
        return traces.trace(self.translator, text)

    def experiment(self, preset: str) -> "Translator":
        """One of the small models. Raises a CheckpointError where it is not there."""
        return models.translator(ModelChoice(f"{catalogue.EXPERIMENTS}/{preset}", self.choice.device))

    def small(self, preset: str) -> "SequenceTranslator":
        """The same, a model from before the Transformer too."""
        return models.any_translator(ModelChoice(f"{catalogue.EXPERIMENTS}/{preset}", self.choice.device))

    def trace_of(self, model: str, text: str) -> "Trace":
        """What another model on the server's list, by its name there, did with a text; "" for the lessons' own."""
        reader = models.reader(ModelChoice(model, self.choice.device)) if model else self.translator
        return traces.trace(reader, text)

    def head(self, trace: "Trace", named: str) -> tuple[str, int, int]:
        """The site, layer and head, from 0, that a lesson names.

        `named`: "finding"; "most METRIC SITE", the head whose job has the highest metric in the atlas; or the head
        itself, "encoder.self 3 1".
        """
        if named == FINDING:
            found = findings.finding(trace, self.choice)
            return found.site, found.layer, found.head
        match named.split():
            case ["most", metric, site] if site in SITES:
                return site, *self._most(metric, site)
            case [site, layer, head] if site in SITES:
                layers, heads = trace.shapes[site]
                return site, min(int(layer), layers - 1), min(int(head), heads - 1)
        raise LessonFileError(f"A head is “finding”, “most METRIC SITE” or “SITE LAYER HEAD”, not {named!r}.")

    def looking(self, text: str, head: str, word: str) -> "tuple[Trace, tuple[str, int, int], int]":
        """A sentence, the head that a lesson names, as of `head`, and the row in which a word looks there."""
        trace = self.trace(text)
        found = self.head(trace, head)
        return trace, found, self.row(trace, found[0], word)

    def _most(self, metric: str, site: str) -> tuple[int, int]:
        """The head of a site with the highest value of a job's metric; the first where no head has the job."""
        measured = findings.of_model(self.choice, site)
        jobs = {} if measured is None else measured.of_heads
        values = {at: job.value for at, of_head in jobs.items() for job in of_head if job.metric == metric}
        return max(values, key=lambda at: values[at], default=(0, 0))

    def row(self, trace: "Trace", site: str, word: str) -> int:
        """The row in which a word looks: its last token's in the encoder, that which writes its first in the decoder.

        A word that the model did not write becomes the first that it wrote.
        """
        known = texts.words(trace)
        own = [index for index, label in enumerate(known.labels) if label.strip(".,!?") == word]
        if site == ENCODER:
            if not own or not known.is_source(own[0]):
                raise _no_word(word, trace)
            return known.groups[own[0]][-1]
        written = [index for index in own if not known.is_source(index)] or [known.num_source]
        if written[0] >= len(known.groups):
            raise _no_word(word, trace)
        return max(0, known.groups[written[0]][0] - 1)

    def keys(self, trace: "Trace", site: str, word: str) -> tuple[int, ...]:
        """The columns of a word of the sentence, or of the translation in the decoder's self-attention."""
        known = texts.words(trace)
        for index, label in enumerate(known.labels):
            if label.strip(".,!?") == word and known.is_source(index) == (site in (ENCODER, CROSS)):
                return known.groups[index]
        raise _no_word(word, trace)


def of_weights(
    weights: Float[np.ndarray, "key"], trace: "Trace", site: str, head: NamedHead | None
) -> dict[str, float | str]:
    """What a row of weights says: its largest, by tokens and by words, its sum, and over how many keys it spreads.

    `head`: whose row it is; None of a mean over heads.
    """
    tokens = trace.axis_tokens(site)[1]
    first, second, *_ = np.argsort(-weights)
    largest, next_largest = float(weights[first]), float(weights[second])
    entropy = float(-(weights * np.log2(np.maximum(weights, 1e-12))).sum())
    return {
        "top": spoken(tokens[first]),
        "top_word": word_of_key(trace, site, int(first)),
        "weight": largest if head is None else OfHead(largest, head),
        "second": spoken(tokens[second]),
        "second_weight": next_largest if head is None else OfHead(next_largest, head),
        "sum": float(weights.sum()),
        "entropy": entropy,
        "keys_used": 2**entropy,
        "keys": len(tokens),
    }


def word_of_key(trace: "Trace", site: str, key: int) -> str:
    """The word that a key is part of; a token that is part of none, as it is."""
    words = texts.words(trace)
    at = words.at(key, is_source=not site.endswith("self") or site.startswith("encoder"))
    return spoken(trace.axis_tokens(site)[1][key]) if at is None else words.labels[at].strip(".,!?")


def is_most(part: float, whole: float) -> bool:
    """Whether a part is more than half of the whole."""
    return part > whole / 2


def nearest_share(options: Mapping[float, Message], share: float) -> Message:
    """The option whose share is nearest."""
    return options[min(options, key=lambda each: abs(each - share))]


def _no_word(word: str, trace: "Trace") -> TraceError:
    message = "This step needs the word “{word}”, but it is not in “{text}” or in this model's translation of it."
    return TraceError(message, word=word, text=trace.text)
