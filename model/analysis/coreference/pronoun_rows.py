"""Read from a trace how much attention each head moves from one candidate of a pronoun to the other.

The metrics are those that `measure` gives over a set, here of one sentence and from its trace: to a
candidate of several tokens weights are summed, from a pronoun of several tokens they are averaged (Clark et al. 2019).
"""

from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from model.analysis.coreference.cases import PronounCase
from model.analysis.coreference.pronoun_choice import find_pronoun
from model.analysis.coreference.span_attention import CandidateWeights, Measure, ReadCase, read_case
from model.analysis.metrics.measures import rollout_at, rollouts, value_weighted_norms
from model.messages import said
from model.reader import Reader
from model.sequence_translator import SequenceTranslator
from model.trace.trace import Trace
from model.words import attention_between_words, with_mean_of_heads

Numbers = TypeVar("Numbers", Tensor, np.ndarray[Any, Any])


def pronoun_rows(translator: Reader, trace: Trace, case: PronounCase, site: str) -> tuple[int, ...] | str:
    """The query rows that speak for a pronoun, or why there are none.

    Where the sentence itself is read these are the rows of its tokens; in the decoder of a translator it is the row
    that predicts the German pronoun.
    """
    if reads_sentence(trace, site):
        read = read_case(translator, case)
        return read if isinstance(read, str) else read.pieces[0]
    if not isinstance(translator, SequenceTranslator) or not translator.is_english_german:
        return said("only translators into German show which token was written for it")
    end = translator.config.eos_id
    pronoun = find_pronoun(translator, case, [step.token_id for step in trace.steps if step.token_id != end])
    return pronoun if isinstance(pronoun, str) else (pronoun.row,)


def reads_sentence(trace: Trace, site: str) -> bool:
    """Whether the rows of a site are those of the sentence: an encoder's, or those of a decoder on its own."""
    return site == "encoder.self" or trace.sites == ("decoder.self",)


def measured_rows(
    translator: Reader, trace: Trace, site: str, layer: int, rows: Sequence[int], measure: Measure
) -> Float[Tensor, "head_or_one row key"]:
    """Weights, value-weighted norms, or rollout up to this layer, of these rows; a rollout has one "head".

    Raises a TraceError if there is no such site or layer.
    """
    if measure == "rollout":
        return rollout_at(trace, site, layer)[list(rows)][None]
    weights = trace.weights(site, layer, rows=list(rows))
    if measure == "raw":
        return weights
    return value_weighted_norms(
        weights, trace.attention(site, layer).values(), translator.output_projection(site, layer)
    )


def rows_of_layers(
    translator: Reader, trace: Trace, site: str, rows: Sequence[int], measure: Measure
) -> Iterator[Float[Tensor, "head_or_one row key"]]:
    """`measured_rows` of every layer, first layer first; a rollout goes on from the layer below."""
    if measure == "rollout":
        return (whole[list(rows)][None] for whole in rollouts(trace, site))
    return (measured_rows(translator, trace, site, layer, rows, measure) for layer in range(trace.layers_of(site)))


def candidate_weights(
    translator: Reader,
    trace: Trace,
    site: str,
    rows: Sequence[int],
    candidates: Sequence[Sequence[int]],
    measure: Measure,
) -> Float[Tensor, "layer head_or_one candidate"]:
    """From the mean of the rows to the sum of each candidate's source tokens, in every layer.

    Args:
        translator, trace, measure: as of `measured_rows`.
        site: one whose keys are tokens of the sentence.
        rows: query rows, as of `pronoun_rows`.
        candidates: the antecedent's positions in the source, then the distractor's.
    """
    assert reads_sentence(trace, site) or site == "decoder.cross", "its keys are target tokens"
    return torch.stack(
        [
            attention_between_words(of_layer, [range(len(rows))], candidates)[:, 0]
            for of_layer in rows_of_layers(translator, trace, site, rows, measure)
        ]
    )


def case_weights(
    reader: Reader, trace: Trace, site: str, read: ReadCase, asking: Sequence[Sequence[int]], measure: Measure
) -> CandidateWeights:
    """Between the pronoun of a case and its candidates, in every layer, as one row.

    Args:
        reader, trace, measure: as of `measured_rows`.
        site: one whose keys are tokens of the sentence.
        read: the case of this sentence.
        asking: the query rows that speak for the pronoun; after them, for weights both ways, those of each candidate.
    """
    rows = sorted({row for span in asking for row in span})
    spans = [[rows.index(row) for row in span] for span in asking]
    # A candidate without words has an empty one, to which no weight goes.
    words = [of_candidate or ((),) for of_candidate in read.words]
    keys = [*read.pieces, *(word for of_candidate in words for word in of_candidate)]
    between = torch.stack(
        [
            attention_between_words(with_mean_of_heads(of_layer), spans, keys)
            for of_layer in rows_of_layers(reader, trace, site, rows, measure)
        ]
    )[None]  # [1, layer, head or mean, asking span, key span]
    of_words = torch.split(between[..., 0, 3:], [len(of_candidate) for of_candidate in words], -1)
    return CandidateWeights(
        to=between[..., 0, 1:3],
        strongest_word=torch.stack([weights.amax(-1) for weights in of_words], -1),
        back=between[..., 1:, 0] if len(asking) > 1 else None,
    )


def movement(
    first: Float[Numbers, "*shape candidate"], second: Float[Numbers, "*shape candidate"]
) -> Float[Numbers, "*shape"]:
    """(antecedent − distractor) in the first sentence + (antecedent − distractor) in the second.

    Where the second sentence swaps the roles, a head that looks the same in both has 0, and one that turns from the
    first antecedent altogether to the second has 2 (of weights).
    """
    moved: Numbers = first[..., 0] - first[..., 1] + second[..., 0] - second[..., 1]
    return moved
