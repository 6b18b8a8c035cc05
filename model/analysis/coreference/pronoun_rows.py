"""Read from a trace how much attention each head moves from one candidate of a pronoun to the other.

The metrics are those that `measure` gives over a set, here of one sentence and from its trace: to a
candidate of several tokens weights are summed, from a pronoun of several tokens they are averaged (Clark et al. 2019).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeVar, get_args

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from model.analysis.coreference.case_files import PronounCase
from model.analysis.coreference.pronoun_choice import find_pronoun
from model.analysis.metrics.head_metrics import HeadName
from model.analysis.metrics.measures import rollout_at, rollouts, value_weighted_norms
from model.errors import InputTextError, said
from model.opening import as_writer
from model.reader import Reader
from model.trace.trace import Trace
from model.training_record import LANGUAGES
from model.words import Span, attention_between_words, pieces_of_spans, with_mean_of_heads, word_spans

Measure = Literal["raw", "norm", "rollout"]
MEASURES: Final[tuple[Measure, ...]] = get_args(Measure)
"""What counts as a weight: the weight itself, its value-weighted norm, or rollout up to the layer (heads averaged)."""

REFUSED: Final = said("blank, or too long for this model")
NO_TOKENS: Final = said("pronoun or candidate without tokens")
NO_OFFSETS: Final = said("this tokenizer does not report which characters belong to a token")


@dataclass(frozen=True)
class ReadCase:
    """A case as the model reads it."""

    case: PronounCase
    source_ids: tuple[int, ...]  #: its tokens, </s> last
    pieces: tuple[tuple[int, ...], ...]  #: positions of the pronoun's, the antecedent's and the distractor's tokens
    #: for antecedent and distractor, the positions of each word's tokens.
    words: tuple[tuple[tuple[int, ...], ...], ...]
    #: tokens of the right and of the wrong German sentence, </s> last; None where the case has none, or the model
    #: cannot read one.
    german: tuple[tuple[int, ...], tuple[int, ...]] | None


@dataclass(frozen=True, eq=False)
class CandidateWeights:
    """Attention between pronoun and candidates: first the antecedent; the last head is the mean of its layer."""

    #: from the pronoun to each candidate: summed over the candidate's tokens, averaged over the pronoun's rows.
    to: Float[Tensor, "row layer head_or_mean candidate"]
    #: the same to that word of each candidate which gets most.
    strongest_word: Float[Tensor, "row layer head_or_mean candidate"]
    #: from each candidate to the pronoun; None where the pronoun is not a key of the site.
    back: Float[Tensor, "row layer head_or_mean candidate"] | None = None

    @classmethod
    def joined(cls, parts: Sequence["CandidateWeights"]) -> "CandidateWeights":
        """The rows of all parts, one part after the other."""
        backs = [part.back for part in parts if part.back is not None]
        return cls(
            torch.cat([part.to for part in parts]),
            torch.cat([part.strongest_word for part in parts]),
            torch.cat(backs) if backs else None,
        )

    def reordered(self, rows: Int[Tensor, "kept"]) -> "CandidateWeights":
        """These rows, in this order."""
        return CandidateWeights(
            self.to[rows], self.strongest_word[rows], None if self.back is None else self.back[rows]
        )


def read_case(translator: Reader, case: PronounCase) -> ReadCase | str:
    """The tokens of a case's sentence and spans, or why the model cannot score it."""
    reads: Any = translator
    try:
        source_ids, offsets = reads.source_ids(case.sentence), reads.source_offsets(case.sentence)
    except InputTextError:
        return REFUSED
    if offsets is None:
        return NO_OFFSETS
    pieces = pieces_of_spans(offsets, case.spans)
    if not all(pieces):
        return NO_TOKENS
    words = tuple(
        tuple(tuple(word) for word in pieces_of_spans(offsets, _words_within(case.sentence, span)))
        for span in (case.antecedent, case.distractor)
    )
    return ReadCase(case, tuple(source_ids), tuple(map(tuple, pieces)), words, _german_ids(translator, case))


def _german_ids(translator: Any, case: PronounCase) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    if case.german is None or translator.languages != LANGUAGES:
        return None
    try:
        return tuple(translator.target_ids(case.german.right)), tuple(translator.target_ids(case.german.wrong))
    except InputTextError:
        return None


def _words_within(sentence: str, span: Span) -> list[Span]:
    begin, end = span
    return [(begin + first, begin + last) for first, last in word_spans(sentence[begin:end])]


Numbers = TypeVar("Numbers", Tensor, np.ndarray[Any, Any])


def pronoun_rows(translator: Reader, trace: Trace, case: PronounCase, site: str) -> tuple[int, ...] | str:
    """The query rows that speak for a pronoun, or why there are none.

    Where the sentence itself is read these are the rows of its tokens; in the decoder of a translator it is the row
    that predicts the German pronoun.
    """
    if reads_sentence(trace, site):
        read = read_case(translator, case)
        return read if isinstance(read, str) else read.pieces[0]
    if translator.languages != LANGUAGES:
        return said("only translators into German show which token was written for the pronoun")
    writer = as_writer(translator)
    ends = writer.end_ids
    pronoun = find_pronoun(writer, case, [step.token_id for step in trace.steps if step.token_id not in ends])
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
    reader: Reader, trace: Trace, site: str, rows: Sequence[int], candidates: Sequence[Sequence[int]], measure: Measure
) -> Float[Tensor, "layer head_or_one candidate"]:
    """From the mean of the rows (`pronoun_rows`) to the sum of each candidate's source tokens, in every layer.

    The site's keys are tokens of the sentence; candidates are positions of the antecedent, then of the distractor.
    """
    assert reads_sentence(trace, site) or site == "decoder.cross", "its keys are target tokens"
    return torch.stack(
        [
            attention_between_words(of_layer, [range(len(rows))], candidates)[:, 0]
            for of_layer in rows_of_layers(reader, trace, site, rows, measure)
        ]
    )


def case_weights(
    reader: Reader, trace: Trace, site: str, read: ReadCase, asking: Sequence[Sequence[int]], measure: Measure
) -> CandidateWeights:
    """Between the pronoun of a case and its candidates, in every layer, as one row; as of `candidate_weights`.

    `asking`: query rows that speak for the pronoun; after them, for weights both ways, those of each candidate.
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


@dataclass(frozen=True)
class PronounLink:
    """A head that looks from a pronoun at its antecedent."""

    site: str
    layer: int
    head: int
    #: the query row: the pronoun's own where the sentence itself is read; in cross-attention the row that predicts the
    #: German pronoun. Of a pronoun of several tokens, its last.
    row: int
    pronoun_row: int  #: the last of the pronoun's own rows
    key: int  #: of the antecedent's tokens, the one with most weight
    weight: float  #: summed over the antecedent's tokens, averaged over the pronoun's rows (Clark et al. 2019, §4.1).
    #: pronoun, antecedent: what their tokens spell, which may be more than the word.
    pronoun: str
    antecedent: str
    written: str  #: the German pronoun that the row predicts; "" where the sentence itself is read
    step: int | None  #: the decoding step that writes that pronoun, whichever head this is; None where it is not known


def pronoun_link(
    reader: Reader, trace: Trace, pronoun: Span, candidates: Sequence[Span], *, taught: HeadName | None = None
) -> PronounLink | None:
    """The largest weight of any head from a pronoun to one of the words that it could stand for; of equal, the first.

    Only the rows of the pronoun are derived, so the length of a text hardly matters.

    None where the model does not tell which tokens spell them, or has no attention from the one to the others. What
    became of the pronoun is known of translators to German only; of others, only the encoder is looked at. `taught` is
    a head that training told to look there; it is left out, for what it does was not found.
    """
    cases = [PronounCase(trace.text, pronoun, candidate, candidate) for candidate in candidates]
    read = [of.pieces for case in cases if not isinstance(of := read_case(reader, case), str)]
    reads: Any = reader
    offsets = reads.source_offsets(trace.text)
    if not read or offsets is None:
        return None

    def spelled(tokens: Sequence[int]) -> str:
        return trace.text[offsets[tokens[0]][0] : offsets[tokens[-1]][1]].strip()

    written = written_step(reader, trace, pronoun)
    step = None if written is None else written[0]
    pieces, *_ = read[0]
    named = spelled(pieces)
    found = [
        PronounLink(site, layer, heads[head], rows[-1], pieces[-1], key, weight, named, spelled(keys), word, step)
        for site, rows, word in _rows(trace, pieces, written)
        for layer in range(trace.layers_of(site))
        for _, keys, _ in read
        for heads in [[head for head in range(trace.heads_of(site)) if HeadName(site, layer, head) != taught]]
        if heads
        for weight, head, key in [_largest(trace.weights(site, layer, heads, rows), keys)]
    ]
    best = max(found, key=lambda link: link.weight, default=None)
    return best if best is not None and best.weight > 0 else None


def written_step(reader: Reader, trace: Trace, pronoun: Span) -> tuple[int, str] | None:
    """The step of a trace that writes the German for a pronoun, and that word; None where it is not known."""
    if reader.languages[1] != "de":
        return None
    writer = as_writer(reader)
    emitted = [step.token_id for step in trace.steps if step.token_id not in writer.end_ids]
    found = find_pronoun(writer, PronounCase(trace.text, pronoun, pronoun, pronoun), emitted)
    return None if isinstance(found, str) else (found.row, found.text)


def _rows(trace: Trace, pieces: Sequence[int], written: tuple[int, str] | None) -> Iterator[tuple[str, list[int], str]]:
    """Each site that looks from the pronoun into the sentence, the rows that speak for it, and what they write."""
    for site in trace.sites:
        if reads_sentence(trace, site):
            yield site, list(pieces), ""
        elif site == "decoder.cross" and written is not None:
            yield site, [written[0]], written[1]


def _largest(weights: Float[Tensor, "head row key"], keys: Sequence[int]) -> tuple[float, int, int]:
    """The largest weight of any head from these rows to these keys, its head, and the key with most of it."""
    of_keys = weights[:, :, list(keys)].mean(1).nan_to_num(0.0)
    totals = of_keys.sum(-1)
    head = int(totals.argmax())
    return float(totals[head]), head, keys[int(of_keys[head].argmax())]
