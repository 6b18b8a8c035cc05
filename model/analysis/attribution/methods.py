"""Every method of attribution on the same choice, what each gives the tokens that were read, and a test of them.

Gradient × input and integrated gradients are Captum's. An input is a token's (scaled) embedding without its position;
its attribution is the sum over dimensions, and says by its sign whether the token speaks for or against the choice.

ALTI and value zeroing follow shares through the layers, as rollout does, to the tokens that were read. A layer's matrix
says which share of each of its output positions comes from which input position, and in a decoder also from which
position of the memory. Rows sum to 1; products of such matrices do too (Abnar & Zuidema 2020, §3).

Comprehensiveness of DeYoung et al. 2020 ("ERASER"), over every number of words, as in Samek et al. 2017: the mean over
1, 2 … all words hidden of how far the choice fell. It tests an order of words, and only by hiding several together: the
word that the choice needs most by itself may come late in the best order. So each word is hidden alone as well
("leave one out", Li et al. 2016, "Understanding Neural Networks through Representation Erasure").
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import pairwise
from typing import Final, Literal, NamedTuple, get_args

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.functional import normalize

from model.analysis.attribution.choice import AttentionSum, ChoiceRun, LayerSums, TokenChoice, TokenScores, visible
from model.analysis.metrics.measures import rollout_at
from model.errors import DataError, TraceError
from model.interruption import Progress, no_progress
from model.parts.run import LayerRun
from model.parts.weights import Stack
from model.sources import SOURCES
from model.trace.row_blocks import mean_over_heads
from model.word_choice import Chooser


class Mix(NamedTuple):
    """Shares of a layer: of each row in the rows below it, and in the positions of the memory, if it reads one."""

    stack: Stack
    within: Float[Tensor, "row row"]
    across: Float[Tensor, "row source"]


def of_row(layers: Iterable[Mix], row: int) -> TokenScores:
    """The share of each token in a row of the last stack, which has no shares in what comes later; encoder first."""
    mixes = list(layers)
    encoder = [layer.within for layer in mixes if layer.stack == "encoder"]
    decoder = [layer for layer in mixes if layer.stack == "decoder"]
    memory = reduce(lambda below, layer: layer @ below, encoder) if encoder else torch.zeros(0, 0)
    if not decoder:
        return TokenScores(memory[row], torch.zeros(0))
    prefix, source = through_decoder(decoder, memory)
    return TokenScores(source[row], prefix[row, : row + 1])


def through_decoder(
    layers: Iterable[Mix], memory: Float[Tensor, "source source"]
) -> tuple[Float[Tensor, "row row"], Float[Tensor, "row source"]]:
    """The share of each prefix token and of each source token in each row of the decoder's output."""
    first, *rest = layers
    prefix, source = first.within, first.across @ memory
    for layer in rest:
        prefix, source = layer.within @ prefix, layer.across @ memory + layer.within @ source
    return prefix, source


def shares(amounts: Float[Tensor, "row part"], own: Int[Tensor, "row"]) -> Float[Tensor, "row part"]:
    """Amounts, none below 0, as shares of their row; where all are 0, nothing moved, and all is the part `own`."""
    totals = amounts.sum(-1, keepdim=True)
    stays = torch.nn.functional.one_hot(own, amounts.size(1)).to(amounts)
    return torch.where(totals > 0, amounts / totals, stays)


@torch.no_grad()
def alti(run: ChoiceRun) -> TokenScores:
    """The share of each token that was read in what the last stack puts out at the row of the choice; they sum to 1.

    How much each token contributes to each vector, layer by layer: Ferrando, Gállego & Costa-jussà 2022 ("Measuring the
    Mixing of Contextual Information in the Transformer") for the encoder; Ferrando et al. 2022 ("Towards Opening the
    Black Box of Neural Machine Translation", ALTI+) for the decoder. What an attention and its residual connection put
    out is a sum of transformed vectors, y_i = Σ_j T_i(x_j) + bias, and

        c_ij = max(0, ‖y_i‖₁ − ‖y_i − T_i(x_j)‖₁), as a share of Σ_j c_ij.

    With post-norm the norm is part of T, as a linear map with the standard deviation that it had. Feed-forward networks
    act on each position by itself and move nothing between them.

    Raises a TraceError if what the model's attentions put out cannot be taken apart.
    """
    return of_row(map(_mix, run.sums()), run.choice.place.row)


def contributions(attention: AttentionSum) -> Float[Tensor, "row part"]:
    """c_ij of an attention, as shares of its parts."""
    parts, output = attention.parts, attention.output
    nearer = output.abs().sum(-1)[:, None] - (output[:, None] - parts).abs().sum(-1)
    rows = torch.arange(len(parts))
    return shares(nearer.clamp_min(0.0), torch.full_like(rows, parts.size(1) - 1) if attention.is_across else rows)


def _mix(layer: LayerSums) -> Mix:
    within = contributions(layer.within)
    if layer.across is None:
        return Mix(layer.stack, within, within[:, :0])
    across = contributions(layer.across)
    return Mix(layer.stack, across[:, -1:] * within, across[:, :-1])


#: Rows that are run through a layer at once.
ROWS_AT_ONCE = 4_000


@torch.no_grad()
def value_zeroing(run: ChoiceRun) -> TokenScores:
    """The share of each token that was read in the row that makes the choice; they sum to 1.

    How far each output of a layer turns when the values of one token are taken away. Mohebbi, Zuidema, Chrupała &
    Alishahi 2023 ("Quantifying Context Mixing in Transformers"): the distance is 1 − cosine, of outputs of the whole
    layer, with its residual connections, norms and feed-forward network; rows are scaled to sum to 1 and followed
    through the layers as in rollout. The paper does so for encoders; in a decoder's layer the values of both
    attentions, over the prefix and over the memory, are taken away one by one, and share a row.

    Raises a TraceError if the layers cannot be run by themselves.
    """
    mixes = []
    for layer in run.layers():
        away = torch.cat([distances(layer, site) for site in layer.values], dim=1)
        mixed = shares(away, torch.arange(layer.rows))
        mixes.append(Mix(layer.stack, mixed[:, : layer.rows], mixed[:, layer.rows :]))
    return of_row(mixes, run.choice.place.row)


def distances(layer: LayerRun, site: str) -> Float[Tensor, "row key"]:
    """1 − cosine between a layer's outputs and those without the values of one key of an attention, on the CPU."""
    whole = layer.again(1)
    groups = torch.split(torch.arange(layer.values[site][1]), max(1, ROWS_AT_ONCE // layer.rows))
    return torch.cat([turned(whole, layer.without(site, some.tolist())) for some in groups]).T.cpu()


def turned(
    whole: Float[Tensor, "1 row d_model"], changed: Float[Tensor, "copy row d_model"]
) -> Float[Tensor, "copy row"]:
    """1 − cosine of each row, as ½ ‖u/‖u‖ − v/‖v‖‖²: most hardly turn, and 1 − cosine would be rounding alone."""
    return (normalize(changed.float(), dim=-1) - normalize(whole.float(), dim=-1)).square().sum(-1) / 2


#: Gauss–Legendre points on each part of the path from zero to the embeddings, and on all that are tried at most.
POINTS: Final = 16
MOST_POINTS: Final = 2048
#: Stretches are halved until no score is off by more than this share of the largest, or by more than so few nats.
TOLERANCE: Final = 0.02
LEAST: Final = 0.002


@dataclass(frozen=True, eq=False, kw_only=True)
class Integration:
    """How certain the scores of integrated gradients are. That they add up says nothing of a single one."""

    gained: float  #: by the choice from zero embeddings to the real ones, in nats
    missing: float  #: the sum over stretches of |their scores − what the choice gains there|, in nats
    #: an estimate of how far each score is off, in nats: by how much it changed when its stretches were halved, and
    #: all that is missing, for it may be missing in any of them.
    uncertain: TokenScores
    largest: float  #: the size of the largest score
    points: int  #: gradients taken

    @property
    def worst(self) -> float:
        """How far any score may be off, in nats."""
        return float(torch.cat(self.uncertain).max())

    @property
    def is_converged(self) -> bool:
        """Whether no score is off by more than `TOLERANCE` of the largest, or than `LEAST`."""
        return self.worst <= max(TOLERANCE * self.largest, LEAST)


def gradient_times_input(run: ChoiceRun) -> TokenScores:
    """The derivative of the choice by each embedding, times that embedding (Shrikumar et al. 2016).

    Raises a TraceError if the embeddings cannot be told.
    """
    from captum.attr import InputXGradient

    inputs = tuple(own.requires_grad_() for own in run.embeddings())
    with torch.enable_grad():
        attributed = InputXGradient(run.of_embeddings).attribute(inputs)
    return _scores(run.choice, _sums(attributed))


def integrated_gradients(run: ChoiceRun, progress: Progress = no_progress) -> tuple[TokenScores, Integration]:
    """The mean gradient on the straight path from zero embeddings to the real ones, times these.

    Sundararajan et al. 2017.

    Every stretch of the path is taken whole and in two halves. How far its scores differ says how far they are off: of
    each token, for errors of two tokens may cancel in a sum. Nor may a sum miss what the choice gains there, which is
    known. The stretch in most doubt is halved, until all scores have converged, or `MOST_POINTS` are used up. Raises a
    TraceError if the embeddings cannot be told. `progress` is called with the number of points taken so far.
    """
    inputs = tuple(own.requires_grad_() for own in run.embeddings())
    zero, one = ((share, _value(run, inputs, share)) for share in (0.0, 1.0))
    stretches, points = [_stretch(run, inputs, zero, one, _between(run, inputs, 0.0, 1.0))], 3 * POINTS
    progress(points)
    while (
        not (found := _integration(run.choice, stretches, points)).is_converged and points + 4 * POINTS <= MOST_POINTS
    ):
        worst = max(stretches, key=lambda stretch: stretch.doubt)
        stretches.remove(worst)
        begin, middle, end = worst.edges
        first, second = worst.halves
        stretches += [_stretch(run, inputs, begin, middle, first), _stretch(run, inputs, middle, end, second)]
        points += 4 * POINTS
        progress(points)
    return _scores(run.choice, torch.stack([stretch.scores for stretch in stretches]).sum(0)), found


@dataclass(frozen=True, eq=False)
class _Stretch:
    """A part of the path: where it begins, is halved and ends (0 to 1) with the choice there (nats)."""

    edges: tuple[tuple[float, float], tuple[float, float], tuple[float, float]]
    whole: Float[Tensor, "token"]  #: each token's score, by points on all of it
    halves: tuple[Float[Tensor, "token"], Float[Tensor, "token"]]  #: by as many points on each half

    @property
    def scores(self) -> Float[Tensor, "token"]:
        """Each token's score, by the points on both halves."""
        return self.halves[0] + self.halves[1]

    @property
    def changed(self) -> Float[Tensor, "token"]:
        """By how much halving changed each score."""
        return (self.scores - self.whole).abs()

    @property
    def missing(self) -> float:
        """|Sum of the scores − what the choice gains|, in nats, of both halves."""
        gains = (end - begin for (_, begin), (_, end) in pairwise(self.edges))
        return sum(abs(float(half.sum()) - gain) for half, gain in zip(self.halves, gains, strict=True))

    @property
    def doubt(self) -> float:
        """How far any of its scores may be off, in nats."""
        return float(self.changed.max()) + self.missing


def _stretch(
    run: ChoiceRun,
    inputs: tuple[Tensor, ...],
    begin: tuple[float, float],
    end: tuple[float, float],
    whole: Float[Tensor, "token"],
) -> _Stretch:
    middle = (begin[0] + end[0]) / 2
    halves = _between(run, inputs, begin[0], middle), _between(run, inputs, middle, end[0])
    return _Stretch((begin, (middle, _value(run, inputs, middle)), end), whole, halves)


def _between(run: ChoiceRun, inputs: tuple[Tensor, ...], begin: float, end: float) -> Float[Tensor, "token"]:
    """The score of every token on a part of the path, by `POINTS` points."""
    from captum.attr import IntegratedGradients

    first, last = (tuple(own * share for own in inputs) for share in (begin, end))
    with torch.enable_grad():
        attributed = IntegratedGradients(run.of_embeddings).attribute(
            last, baselines=first, n_steps=POINTS, internal_batch_size=run.copies
        )
    return _sums(attributed)


@torch.no_grad()
def _value(run: ChoiceRun, inputs: tuple[Tensor, ...], share: float) -> float:
    """The choice (nats) so far along the path."""
    return float(run.of_embeddings(*(own * share for own in inputs)))


def _integration(choice: TokenChoice, stretches: Sequence[_Stretch], points: int) -> Integration:
    missing = sum(stretch.missing for stretch in stretches)
    scores, changed = (
        torch.stack(each).sum(0) for each in zip(*((one.scores, one.changed) for one in stretches), strict=True)
    )
    return Integration(
        gained=sum(stretch.edges[-1][1] - stretch.edges[0][1] for stretch in stretches),
        missing=missing,
        uncertain=_scores(choice, changed + missing),
        largest=float(scores.abs().max()),
        points=points,
    )


def _sums(attributed: Sequence[Tensor]) -> Float[Tensor, "token"]:
    """The score of every token, what the encoder reads before what the decoder reads."""
    return torch.cat([scores[0].sum(-1).detach().double().cpu() for scores in attributed])


def _scores(choice: TokenChoice, joined: Float[Tensor, "token"]) -> TokenScores:
    return TokenScores(*torch.split(joined.float(), [len(choice.source), len(choice.prefix)]))


Method = Literal["weights", "rollout", "gradient", "integrated", "zeroing", "alti"]
METHODS: Final[tuple[Method, ...]] = get_args(Method)
#: Words, or spans of a sound, on one side at most.
MOST_TOKENS: Final = 256
#: Methods that hold the square of the positions times d_model, and are made of so many alone.
_OF_FEW: Final[tuple[Method, ...]] = ("zeroing", "alti")


@dataclass(frozen=True, eq=False)
class Attribution:
    """What a method gives each token."""

    #: of the text whose tokens can be hidden, `TokenChoice.read`; shares of 1, or with a sign.
    read: Float[Tensor, "token"]
    #: of what a decoder had written beside; None for methods that look at the source alone, and of models that read one
    #: text only.
    prefix: Float[Tensor, "prefix"] | None = None
    integration: Integration | None = None  #: of integrated gradients, how certain the scores are

    @property
    def uncertain(self) -> Float[Tensor, "token"] | None:
        """How far each score of `read` may be off, in nats; None for methods that are exact."""
        return None if self.integration is None else next(side for side in self.integration.uncertain if len(side))


def choice_run(reader: Chooser, choice: TokenChoice) -> ChoiceRun:
    """A model and a choice as the methods need them. Raises a DataError if a side has more than `MOST_TOKENS` tokens
    or patches, or a sound so many spans.

    `reader`: that does not lack "word choice".
    """
    reads = reader.abilities.reads
    if reads == "picture" and len(choice.source) > MOST_TOKENS:
        message = (
            "Attribution hides up to {most_tokens} patches, one at a time, but this model reads {count} patches of "
            "this picture. Draw a rectangle on the picture instead: the Attention page then shows what hiding it "
            "changes."
        )
        raise DataError(message, most_tokens=MOST_TOKENS, count=len(choice.source))
    # How many spans there are of what is cut into spans, its trace knows.
    _check_few(max(len(choice.prefix), 0 if SOURCES[reads].span_choices else len(choice.source)))
    trace = reader.trace_place(choice.place, choice.token)
    _check_few(len(trace.source.spans()))
    return ChoiceRun(reader, choice, trace)


def _check_few(count: int) -> None:
    if count > MOST_TOKENS:
        message = "Attribution reads up to {most_tokens} tokens on each side, got {longest}. Choose a shorter text."
        raise DataError(message, most_tokens=MOST_TOKENS, longest=count)


def attribute(run: ChoiceRun, method: Method, progress: Progress = no_progress) -> Attribution:
    """What a method gives each token. Raises a TraceError if a method cannot take this model apart; it says why.

    Args:
        method: "weights" are those of the row that makes the choice, the mean of all heads of all layers: of
            cross-attention where there is one, else of self-attention; "rollout" are the last layer's, followed back
            through those below (`metrics.measures`); the others are those of this folder. "gradient" and
            "integrated" know of the token it is set against, and their scores have a sign.
        progress: called with the number of points that integrated gradients have taken so far.
    """
    choice, trace = run.choice, run.trace
    site = next(site for site in ("decoder.cross", "decoder.self", "encoder.self") if site in trace.sites)
    integration = None
    if method in _OF_FEW and len(choice.source) > MOST_TOKENS:
        message = "it is computed for up to {most} positions, but this model reads {count:,}."
        raise TraceError(message, most=MOST_TOKENS, count=len(choice.source))
    match method:
        case "weights":
            rows = [mean_over_heads(inputs)[choice.place.row] for inputs in trace.inputs[site]]
            return Attribution(torch.stack(rows).mean(0).cpu()[: len(choice.read)])
        case "rollout":
            whole = rollout_at(trace, site, trace.layers_of(site) - 1)
            return Attribution(whole[choice.place.row].cpu()[: len(choice.read)])
        case "gradient":
            scores = gradient_times_input(run)
        case "integrated":
            scores, integration = integrated_gradients(run, progress)
        case "zeroing":
            scores = value_zeroing(run)
        case "alti":
            scores = alti(run)
    if choice.own is None:
        return Attribution(scores.source, scores.prefix, integration)
    return Attribution(scores.source if choice.source else scores.prefix, None, integration)


#: So many random orders.
DRAWS = 20


@dataclass(frozen=True, eq=False)
class Deletion:
    """The choice (nats) with 0, 1, 2 … words hidden, in one order."""

    order: tuple[int, ...]  #: words in the order in which they are hidden
    values: Float[np.ndarray, "hidden"]  #: one more than there are words

    @property
    def fall(self) -> float:
        """By how much the choice falls (nats), on average over 1, 2 … all words hidden."""
        return float((self.values[0] - self.values[1:]).mean())


@dataclass(frozen=True, eq=False)
class HiddenAlone:
    """What hiding each single word does to the choice."""

    before: float  #: the choice (nats) with nothing hidden
    values: Float[np.ndarray, "word"]  #: the choice with each word hidden
    #: said_before, said: ids of the tokens that the model says there, as `TokenChoice.said` has it.
    said_before: int
    said: tuple[int, ...]

    @property
    def losses(self) -> Float[np.ndarray, "word"]:
        """How much of the choice (nats) is lost without each word."""
        return self.before - self.values

    @property
    def most_needed(self) -> int:
        """The word whose loss is largest."""
        return int(self.losses.argmax())

    @property
    def changes(self) -> tuple[int, ...]:
        """The words without which the model says another token, the largest loss first."""
        found = [word for word, token in enumerate(self.said) if token != self.said_before]
        return tuple(sorted(found, key=lambda word: -self.losses[word]))


def random_orders(words: int) -> list[tuple[int, ...]]:
    """Words in `DRAWS` random orders, each time the same."""
    rng = np.random.default_rng(0)
    return [tuple(map(int, rng.permutation(words))) for _ in range(DRAWS)]


def order_of(scores: Sequence[float]) -> tuple[int, ...]:
    """Words by what an attribution gives them, most first."""
    return tuple(map(int, np.argsort(-np.asarray(scores), kind="stable")))


def most_runs(words: int, orders: int) -> int:
    """How many runs `delete` takes at most: with nothing, each word, everything, and each order's own sets between."""
    return 1 + words + (words > 1) + orders * max(0, words - 2)


@torch.no_grad()
def delete(
    run: ChoiceRun,
    words: Sequence[Sequence[int]],
    orders: Sequence[Sequence[int]],
    progress: Callable[[int, int], None] = no_progress,
) -> tuple[list[Deletion], HiddenAlone]:
    """Hide words in each of these orders, one more at each step; and each word alone.

    Args:
        words: the positions of each word's tokens in the text that is read.
        orders: of these words, by their numbers.
        progress: called with the number of runs done, and of all; sets of words that occur twice run once.
    """
    nothing: frozenset[int] = frozenset()
    alone = [frozenset({word}) for word in range(len(words))]
    in_order = [[frozenset(order[:count]) for count in range(len(order) + 1)] for order in orders]
    sets = sorted({nothing, *alone, *(hidden for of_order in in_order for hidden in of_order)}, key=sorted)
    found: dict[frozenset[int], float] = {}
    said: dict[frozenset[int], int] = {}
    for start in range(0, len(sets), run.copies):
        some = sets[start : start + run.copies]
        seen = visible(len(run.choice.read), [[at for word in hidden for at in words[word]] for hidden in some])
        logits = run.seen_logits(seen)
        found |= zip(some, run.choice.of_logits(logits).tolist(), strict=True)
        said |= zip(some, run.choice.said(logits).tolist(), strict=True)
        progress(len(found), len(sets))
    deletions = [
        Deletion(tuple(order), np.array([found[hidden] for hidden in of_order]))
        for order, of_order in zip(orders, in_order, strict=True)
    ]
    values = np.array([found[word] for word in alone])
    return deletions, HiddenAlone(found[nothing], values, said[nothing], tuple(said[word] for word in alone))
