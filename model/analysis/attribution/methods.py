"""Every method of attribution on the same choice: what each gives the tokens of the source, and of what is written."""

from dataclasses import dataclass
from typing import Final, Literal, get_args

import torch
from jaxtyping import Float
from torch import Tensor

from model.analysis.attribution.choice import choice_at
from model.analysis.attribution.contributions import alti
from model.analysis.attribution.gradients import gradient_times_input, integrated_gradients
from model.analysis.attribution.value_zeroing import value_zeroing
from model.analysis.metrics.rollout import rollout_at
from model.analysis.residual_stream.capture import capture
from model.errors import DataError
from model.trace.row_blocks import mean_over_heads
from model.trace.trace import Trace
from model.translator import Translator

Method = Literal["cross-attention", "rollout", "gradient", "integrated", "zeroing", "alti"]
METHODS: Final[tuple[Method, ...]] = get_args(Method)
#: Those that know of the choice itself, and not only of the row that makes it; their scores have a sign.
OF_CHOICE: Final[frozenset[Method]] = frozenset({"gradient", "integrated"})
#: More tokens on one side than this are refused: ALTI and value zeroing hold their square times d_model.
MOST_TOKENS: Final = 256


@dataclass(frozen=True, eq=False)
class Attribution:
    """What a method gives each token.

    Attributes:
        source: of the source; shares of 1, or with a sign.
        prefix: of what the decoder had read; None for methods that look at the source alone.
        missing: of integrated gradients, how far the scores are from adding up (nats).
    """

    source: Float[Tensor, "source"]
    prefix: Float[Tensor, "prefix"] | None = None
    missing: float | None = None


def attribute(
    translator: Translator, trace: Trace, step: int, method: Method, against: int | None = None
) -> Attribution:
    """What a method gives each token for the token that a trace wrote at a step, from 0.

    Args:
        translator, trace: the model and what it read and wrote.
        step: from 0.
        method: "cross-attention" is the row's weights, the mean of all heads of all layers; "rollout" the last layer's
            weights on through the encoder (`metrics.rollout`); the others are those of this folder.
        against: a token's id, to ask why not this one; counts for the methods `OF_CHOICE`.

    Raises:
        DataError: there is no such step, or a side has more than `MOST_TOKENS` tokens.
    """
    choice = choice_at(trace, step, against)
    if (longest := max(len(choice.source), len(choice.prefix))) > MOST_TOKENS:
        raise DataError(f"Attribution reads up to {MOST_TOKENS} tokens on each side, got {longest}; shorten the text.")
    match method:
        case "cross-attention":
            layers = range(trace.layers_of("decoder.cross"))
            weights = [mean_over_heads(trace.attention("decoder.cross", layer))[choice.row] for layer in layers]
            return Attribution(torch.stack(weights).mean(0).cpu())
        case "rollout":
            last = trace.layers_of("decoder.cross") - 1
            return Attribution(rollout_at(trace, "decoder.cross", last)[choice.row].cpu())
        case "gradient":
            return Attribution(*gradient_times_input(translator.model, choice))
        case "integrated":
            scores, missing = integrated_gradients(translator.model, choice)
            return Attribution(*scores, missing)
        case "zeroing":
            return Attribution(*value_zeroing(translator.model, choice))
        case "alti":
            return Attribution(*alti(capture(translator, trace), choice.row))
