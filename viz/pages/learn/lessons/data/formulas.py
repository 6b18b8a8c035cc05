"""Formulas of the paper with numbers for a pencil: the right result, and what usual mistakes make of it. No picture."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np
from jaxtyping import Float

from model.config import TransformerConfig
from model.decoding.beam import length_penalty
from model.decoding.cost import ParameterCounts, count_parameters
from model.nn.layers import sinusoidal_encoding
from model.training.optimizer import learning_rate
from viz.pages.learn.lessons.lesson import Found, LessonFileError
from viz.pages.learn.lessons.pictures import NO_PICTURE, FullPage, View
from viz.text.messages import Message, said

if TYPE_CHECKING:
    from viz.pages.learn.lessons.data.shipped import Shipped

Numbers = Sequence[float]
_FULL: Final = FullPage("learn", {"learn_tab": "Lessons"})


def formula(shipped: "Shipped", *, of: str, numbers: Numbers) -> View:
    """What one of the `FORMULAS` makes of numbers. Raises a LessonFileError if there is none of this name."""
    if of not in FORMULAS:
        raise LessonFileError(f"There is no formula {of!r}; formulas are {', '.join(FORMULAS)}.")
    return View(NO_PICTURE, FORMULAS[of](*numbers), "", _FULL)


def nothing(shipped: "Shipped") -> View:
    """Nothing, for a question that a text alone answers."""
    return View(NO_PICTURE, {}, "", _FULL)


def softmax(*scores: float) -> Found:
    """The weights of a row (§3.2.1), and equal ones."""
    first, second, third = _softmax(scores)
    return {"first": first, "second": second, "third": third, "even": 1 / len(scores)}


def masked_row(*scores: float) -> Found:
    """As `softmax`, with one more key, whose score is −∞."""
    return softmax(*scores, -np.inf)


def weighted(first: float, second: float, value: float, other: float) -> Found:
    """The sum of two values by their weights; their mean, their sum, the value with the larger weight, one addend."""
    return {
        "output": first * value + second * other, "mean": (value + other) / 2, "sum": value + other,
        "of_largest": value if first > second else other, "of_weight": first * value,
    }  # fmt: skip


def even_row(keys: float) -> Found:
    """The entropy of a row with equal weights, in bits."""
    weights = np.full(int(keys), 1 / keys)
    return {"bits": float(-(weights * np.log2(weights)).sum()), "keys": keys}


def score(*numbers: float) -> Found:
    """q · k ÷ √dₖ (eq. 1) of a query and, in the second half of the numbers, a key; undivided; divided by dₖ."""
    query, key = np.split(np.array(numbers), 2)
    dot, d_k = float(query @ key), len(query)
    return {"dot": dot, "d_k": d_k, "root": d_k**0.5, "scaled": dot / d_k**0.5, "by_d_k": dot / d_k}


def spread(d_k: float) -> Found:
    """The standard deviation of q · k (footnote 4), and its variance."""
    return {"root": d_k**0.5, "d_k": d_k}


def shifted_scores(*numbers: float) -> Found:
    """What becomes of the weights if the last number is added to all scores before it."""
    *scores, added = numbers
    before, after = _softmax(scores), _softmax(np.add(scores, added))
    return {"verdict": _changed(float(before.max()), float(after.max()))}


def doubled_scores(*scores: float) -> Found:
    """What becomes of the largest weight if all scores are doubled."""
    before, after = float(_softmax(scores).max()), float(_softmax(np.multiply(scores, 2)).max())
    verdict = said("It grows") if after > before else said("It stays the same")
    return {"before": before, "after": after, "verdict": verdict}


def head_width(d_model: float, heads: float) -> Found:
    """dₖ = d_model ÷ h (§3.2.2)."""
    return {"d_k": TransformerConfig(vocab_size=_VOCABULARY, d_model=int(d_model), num_heads=int(heads)).d_k} | {
        "d_model": d_model, "heads": heads
    }  # fmt: skip


def concatenated(tokens: float, heads: float, width: float) -> Found:
    """The shape of the outputs of all heads beside one another, and below one another."""
    outputs = [np.zeros((int(tokens), int(width)))] * int(heads)
    (rows, columns), (stacked, _width) = np.concatenate(outputs, axis=1).shape, np.concatenate(outputs).shape
    return {"rows": rows, "columns": columns, "width": int(width), "stacked": stacked}


def attention_weights_count(d_model: float, heads: float) -> Found:
    """The weights of W_Q, W_K, W_V and W_O; without W_O; with heads that are all as wide as the model."""
    of_base = _base(d_model).encoder_self_attention / _LAYERS - 4 * d_model
    return {"four": of_base, "three": of_base * 3 / 4, "every_head_wide": of_base * heads}


def network_size(d_model: float, d_ff: float) -> Found:
    """The parameters of a feed-forward network (eq. 2); of one of its matrices; of an attention of that width."""
    counts = _base(d_model, d_ff)
    return {
        "both": counts.encoder_feed_forward / _LAYERS, "one": d_model * d_ff,
        "attention": counts.encoder_self_attention / _LAYERS,
    }  # fmt: skip


def causal(tokens: float) -> Found:
    """The cells that the causal mask hides and leaves (§3.2.3); half of all."""
    seen = np.tril(np.ones((int(tokens), int(tokens)), bool))
    return {"hidden": int((~seen).sum()), "seen": int(seen.sum()), "half": seen.size // 2}


def relu(first: float, second: float) -> Found:
    """max(0, ·) of two numbers."""
    return {"first": max(0.0, first), "second": max(0.0, second)}


def normalised(*numbers: float) -> Found:
    """Mean and standard deviation after layer normalisation, and before."""
    before = np.array(numbers)
    after = (before - before.mean()) / before.std()
    return {
        "mean": float(after.mean()), "deviation": float(after.std()),
        "old_mean": float(before.mean()), "old_deviation": float(before.std()),
    }  # fmt: skip


def table(rows: float, columns: float) -> Found:
    """The numbers of a matrix, of two and of three; the sum of its sides; the square of its width."""
    one = rows * columns
    return {"product": one, "twice": 2 * one, "thrice": 3 * one, "sum": rows + columns, "square": columns**2}


def angle(*numbers: float) -> Found:
    """The cosine of two vectors, their dot product and their distance."""
    one, other = np.split(np.array(numbers), 2)
    lengths = float(np.linalg.norm(one) * np.linalg.norm(other))
    return {"cosine": float(one @ other) / lengths, "dot": float(one @ other), "distance": _norm(one - other)}


def logit_difference(difference: float) -> Found:
    """How many times as probable a token is whose logit is larger by a difference; the difference that doubles it."""
    more, less = _softmax((difference, 0.0))
    return {"ratio": float(more / less), "difference": difference, "doubling": float(np.log(2))}


def encoding(position: float) -> Found:
    """The first sine and cosine at a position (§3.5)."""
    sine, cosine = sinusoidal_encoding(1, 2, first=int(position)).numpy()[0]
    return {"sine": float(sine), "cosine": float(cosine)}


def wave(pair: float, d_model: float = 512) -> Found:
    """The wavelength of a pair of dimensions, in positions."""
    return {"wavelength": 2 * np.pi * 10_000.0 ** (2 * pair / d_model)}


def operations_of(length: float, width: float) -> Found:
    """Which of two layers takes fewer operations (Table 1), and how many times n²d is nd²."""
    attention, recurrent = length**2 * width, length * width**2
    verdict = said("Self-attention") if attention < recurrent else said("The recurrent layer")
    return {"ratio": attention / recurrent, "verdict": verdict}


def longer(times: float) -> Found:
    """How many times as many weights n² has, and other powers."""
    return {"once": times, "squared": times**2, "cubed": times**3}


def surprise(probability: float) -> Found:
    """−ln p in nats, the same in bits, and 1 − p."""
    return {"loss": float(-np.log(probability)), "bits": float(-np.log2(probability)), "rest": 1 - probability}


def perplexity(loss: float) -> Found:
    """e to the power of a loss; 2 to the power of it."""
    return {"perplexity": float(np.exp(loss)), "power": 2.0**loss, "loss": loss}


def schedule_share(warmup: float, step: float) -> Found:
    """The learning rate at a step (eq. 3) as a share of its peak; by the root of the step; by its inverse."""
    rates = [
        learning_rate(int(at), decay="paper", warmup=int(warmup), d_model=512, peak=1.0, total=0)
        for at in (step, warmup)
    ]
    return {"share": rates[0] / rates[1], "root": (step / warmup) ** 0.5, "inverse": warmup / step}


def dropped(share: float) -> Found:
    """What the numbers are multiplied by that dropout leaves, and the share of these."""
    return {"scale": 1 / (1 - share), "kept": 1 - share}


def chain(*probabilities: float) -> Found:
    """The probability of all tokens together, their mean and their least."""
    return {
        "product": float(np.prod(probabilities)), "mean": float(np.mean(probabilities)), "least": min(probabilities)
    }  # fmt: skip


def penalty_of(length: float, alpha: float) -> Found:
    """The length penalty (Wu et al. 2016); without its exponent; without its constants."""
    return {
        "penalty": length_penalty(int(length), alpha), "linear": length_penalty(int(length), 1.0),
        "plain": length**alpha,
    }  # fmt: skip


def tempered(difference: float, temperature: float) -> Found:
    """How many times as probable the first of two logits is at a temperature; at 1; at its inverse."""
    ratios = (float(np.exp(difference / each)) for each in (temperature, 1.0, 1 / temperature))
    return dict(zip(("ratio", "untouched", "inverted"), ratios, strict=True))


def added(weight: float, norm: float, other: float, other_norm: float) -> Found:
    """The norms of what two keys add: weight times norm of the projected value."""
    first, second = weight * norm, other * other_norm
    return {"first": first, "second": second, "verdict": said("Key A") if first > second else said("Key B")}


FORMULAS: Final[Mapping[str, Callable[..., Found]]] = {
    each.__name__: each
    for each in (
        added, angle, attention_weights_count, causal, chain, concatenated, doubled_scores, dropped,
        encoding, even_row, head_width, logit_difference, longer, masked_row, network_size, normalised, operations_of,
        penalty_of, perplexity, relu, schedule_share, score, shifted_scores, softmax, spread, surprise, table, tempered,
        wave, weighted,
    )
}  # fmt: skip
#: Of the base model's encoder.
_LAYERS: Final = 6
#: Of a model whose vocabulary does not matter: its four special tokens.
_VOCABULARY: Final = 4


def _base(d_model: float, d_ff: float = 2048) -> ParameterCounts:
    """The parameters of the base model with other widths."""
    config = TransformerConfig(vocab_size=_VOCABULARY, d_model=int(d_model), d_ff=int(d_ff), num_layers=_LAYERS)
    return count_parameters(config)


def _softmax(scores: Numbers | np.ndarray) -> Float[np.ndarray, "key"]:
    powers = np.exp(np.asarray(scores, float))
    return np.asarray(powers / powers.sum())


def _changed(before: float, after: float) -> Message:
    return said("They stay the same") if np.isclose(before, after) else said("The largest of them grows")


def _norm(vector: Float[np.ndarray, "number"]) -> float:
    return float(np.linalg.norm(vector))
