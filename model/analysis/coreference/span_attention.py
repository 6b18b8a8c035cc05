"""Sum attention between a pronoun and its candidates, for a batch of sentences and all heads at once.

Only the rows that are asked for are derived, by the model's own `attention_weights`: [batch, head, row, key], never
query × key of all rows, but for rollout, which passes through every position.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple, get_args

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from model.analysis.coreference.cases import PronounCase
from model.analysis.metrics.norms import value_weighted_norms
from model.analysis.metrics.rollout import attention_rollout, cross_rollout
from model.errors import InputTextError
from model.messages import said
from model.nn.attention import attention_weights
from model.nn.encoder_decoder import site_path
from model.nn.score_functions import ScoreFunction
from model.reader import Reader
from model.sequence_translator import SequenceTranslator
from model.translator import Translator
from model.words import Span, pieces_of_spans, word_spans

Measure = Literal["raw", "norm", "rollout"]
MEASURES: Final[tuple[Measure, ...]] = get_args(Measure)
"""What counts as a weight: the weight itself, its value-weighted norm, or rollout up to the layer (heads averaged)."""

REFUSED: Final = said("too long or blank for this model")
NO_TOKENS: Final = said("pronoun or candidate without tokens")
NO_OFFSETS: Final = said("this tokenizer does not tell which characters a token stands for")
Recorded = Mapping[str, list[Any]]


@dataclass(frozen=True)
class ReadCase:
    """A case as the model reads it.

    Attributes:
        case: the sentence.
        source_ids: its tokens, </s> last.
        pieces: positions of the pronoun's, the antecedent's and the distractor's tokens.
        words: for antecedent and distractor, the positions of each word's tokens.
        german: tokens of the right and of the wrong German sentence, </s> last; None where the case has none, or the
            model cannot read one.
    """

    case: PronounCase
    source_ids: tuple[int, ...]
    pieces: tuple[tuple[int, ...], ...]
    words: tuple[tuple[tuple[int, ...], ...], ...]
    german: tuple[tuple[int, ...], tuple[int, ...]] | None


@dataclass(frozen=True, eq=False)
class CandidateWeights:
    """Attention between pronoun and candidates; the first candidate is the antecedent, the last head the layer's mean.

    Attributes:
        to: from the pronoun to each candidate: summed over the candidate's tokens, averaged over the pronoun's rows.
        strongest_word: the same to that word of each candidate which gets most.
        back: from each candidate to the pronoun; None where the pronoun is no key of the site.
    """

    to: Float[Tensor, "row layer head_or_mean candidate"]
    strongest_word: Float[Tensor, "row layer head_or_mean candidate"]
    back: Float[Tensor, "row layer head_or_mean candidate"] | None

    @classmethod
    def from_rows(
        cls, of_layers: Sequence[Float[Tensor, "batch head row key"]], spans: "SpanRows"
    ) -> "CandidateWeights":
        """The rows of `spans` in every layer, joined to spans."""
        average, total = (part[:, None].to(of_layers[0].device) for part in (spans.average, spans.total))
        joined = []
        for weights in of_layers:
            with_mean = torch.cat((weights, weights.mean(1, keepdim=True)), 1)
            joined.append((average @ with_mean @ total).cpu())
        between = torch.stack(joined, 1)  # [batch, layer, head or mean, asking span, column]
        words = torch.stack(between[..., 0, 3:].chunk(2, -1), -2)
        back = between[..., 1:3, 0] if between.size(-2) == 3 else None
        return cls(between[..., 0, 1:3], words.amax(-1), back)

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


class SiteLayer(NamedTuple):
    """What one layer of a site computed its weights from, for a batch, and its W_O."""

    query: Float[Tensor, "batch head query d_k"]
    key: Float[Tensor, "batch head key d_k"]
    value: Float[Tensor, "batch head key d_v"]
    output_projection: Float[Tensor, "head d_v d_model"]
    scale: float
    score: ScoreFunction


class SpanRows(NamedTuple):
    """Which rows are read, and how they and the keys are joined to spans.

    Attributes:
        rows: query rows of each sentence, padded with row 0.
        average: share of each row in each asking span.
        total: 1 where a key belongs to a span: pronoun, antecedent, distractor, then words of either candidate.
    """

    rows: Int[Tensor, "batch row"]
    average: Float[Tensor, "batch span row"]
    total: Float[Tensor, "batch key column"]


def read_case(translator: Reader, case: PronounCase) -> ReadCase | str:
    """The tokens of a case's sentence and spans, or why the model cannot score it."""
    try:
        source_ids, offsets = _tokens_of(translator, case.sentence)
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


def _tokens_of(reader: Reader, text: str) -> tuple[Sequence[int], Sequence[Span] | None]:
    """Token ids of a text, and the characters behind each."""
    if isinstance(reader, SequenceTranslator):
        return reader.source_ids(text), reader.tokenizer.offsets(text)
    text_reader: Any = reader
    return text_reader.source(text).ids, text_reader.pieces.offsets(text)


def _german_ids(translator: Reader, case: PronounCase) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    if case.german is None or not isinstance(translator, SequenceTranslator) or not translator.is_english_german:
        return None
    try:
        return tuple(translator.target_ids(case.german.right)), tuple(translator.target_ids(case.german.wrong))
    except InputTextError:
        return None


def _words_within(sentence: str, span: Span) -> list[Span]:
    begin, end = span
    return [(begin + first, begin + last) for first, last in word_spans(sentence[begin:end])]


def site_layers(translator: Translator, recorded: Recorded, site: str) -> list[SiteLayer]:
    """Queries, keys and values of all layers of a site from a pass that recorded them."""
    layers = []
    for layer in range(translator.config.equal_layers):
        path = site_path(site, layer)
        query, key, value = (recorded[f"{path}.hook_{part}"][0].float() for part in ("query", "key", "value"))
        projection = translator.output_projection(site, layer).to(query.device)
        score = translator.model.score_of(site, layer).to(query.device)
        layers.append(SiteLayer(query, key, value, projection, translator.config.attention_scale, score))
    return layers


def encoder_span_rows(batch: Sequence[ReadCase], width: int) -> SpanRows:
    """Rows of pronoun and candidates, for weights both ways."""
    of_each = [sorted({position for span in case.pieces for position in span}) for case in batch]
    rows = torch.zeros(len(batch), max(map(len, of_each)), dtype=torch.long)
    average = torch.zeros(len(batch), 3, rows.size(1))
    for i, (case, positions) in enumerate(zip(batch, of_each, strict=True)):
        rows[i, : len(positions)] = torch.tensor(positions)
        for j, span in enumerate(case.pieces):
            average[i, j, [positions.index(position) for position in span]] = 1 / len(span)
    return SpanRows(rows, average, _columns(batch, width))


def cross_span_rows(batch: Sequence[ReadCase], width: int, rows: Sequence[int]) -> SpanRows:
    """One target row of each sentence."""
    return SpanRows(torch.tensor(rows)[:, None], torch.ones(len(batch), 1, 1), _columns(batch, width))


def _columns(batch: Sequence[ReadCase], width: int) -> Float[Tensor, "batch key column"]:
    most = max(len(words) for case in batch for words in case.words)
    total = torch.zeros(len(batch), width, 3 + 2 * most)
    for i, case in enumerate(batch):
        for column, span in enumerate(case.pieces):
            total[i, list(span), column] = 1.0
        for j, words in enumerate(case.words):
            for k, word in enumerate(words):
                total[i, list(word), 3 + j * most + k] = 1.0
    return total


def encoder_weights(
    layers: Sequence[SiteLayer], spans: SpanRows, padding: Bool[Tensor, "batch key"], measure: Measure
) -> CandidateWeights:
    """Between pronoun and candidates, in encoder self-attention."""
    if measure == "rollout":
        means = encoder_means(layers, padding)
        through = [attention_rollout(means[: layer + 1])[:, None] for layer in range(len(layers))]
        index = spans.rows.to(padding.device)[:, None, :, None]
        of_layers = [rows.gather(2, index.expand(-1, -1, -1, rows.size(3))) for rows in through]
    else:
        of_layers = [row_weights(layer, spans.rows, padding, measure) for layer in layers]
    return CandidateWeights.from_rows(of_layers, spans)


def cross_weights(
    layers: Sequence[SiteLayer],
    encoder: Sequence[SiteLayer],
    spans: SpanRows,
    padding: Bool[Tensor, "batch key"],
    measure: Measure,
) -> CandidateWeights:
    """From one target row to the candidates, in cross-attention."""
    if measure == "rollout":
        memory = attention_rollout(encoder_means(encoder, padding))
        of_layers = [
            cross_rollout(row_weights(layer, spans.rows, padding, "raw").mean(1), memory)[:, None] for layer in layers
        ]
    else:
        of_layers = [row_weights(layer, spans.rows, padding, measure) for layer in layers]
    return CandidateWeights.from_rows(of_layers, spans)


def row_weights(
    layer: SiteLayer, rows: Int[Tensor, "batch row"], padding: Bool[Tensor, "batch key"], measure: Measure
) -> Float[Tensor, "batch head row key"]:
    """Weights, or value-weighted norms, of the rows asked for."""
    index = rows.to(layer.query.device)[:, None, :, None].expand(-1, layer.query.size(1), -1, layer.query.size(3))
    query = layer.query.gather(2, index)
    mask = padding[:, None, None, :].expand(-1, -1, query.size(2), -1)
    weights = attention_weights(query, layer.key, scale=layer.scale, score=layer.score, mask=mask).weights
    return value_weighted_norms(weights, layer.value, layer.output_projection) if measure == "norm" else weights


def encoder_means(
    layers: Sequence[SiteLayer], padding: Bool[Tensor, "batch key"]
) -> Float[Tensor, "layer batch key key"]:
    """All rows of each layer's mean over heads; padded keys have no weight."""
    everything = torch.arange(padding.size(1)).expand(padding.size(0), -1)
    return torch.stack([row_weights(layer, everything, padding, "raw").mean(1) for layer in layers])
