"""Every method of attribution on the same choice: what each gives the tokens that were read."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal, get_args

import torch
from jaxtyping import Float
from torch import Tensor

from model.adapters.text_reader import TextReader
from model.analysis.attribution.choice import ChoiceRun, TokenChoice
from model.analysis.attribution.gradients import Integration, gradient_times_input, integrated_gradients
from model.analysis.attribution.mixing import alti, value_zeroing
from model.analysis.attribution.of_library import LibraryRun
from model.analysis.attribution.of_translator import TranslatorRun
from model.analysis.metrics.measures import rollout_at
from model.errors import DataError
from model.reader import Reader
from model.trace.row_blocks import mean_over_heads
from model.translator import Translator

Method = Literal["weights", "rollout", "gradient", "integrated", "zeroing", "alti"]
METHODS: Final[tuple[Method, ...]] = get_args(Method)
#: Those that know of the choice itself, and not only of the row that makes it; their scores have a sign.
OF_CHOICE: Final[frozenset[Method]] = frozenset({"gradient", "integrated"})
#: More tokens on one side than this are refused: ALTI and value zeroing hold their square times d_model.
MOST_TOKENS: Final = 256


@dataclass(frozen=True, eq=False)
class Attribution:
    """What a method gives each token.

    Attributes:
        read: of the text whose tokens can be hidden, `TokenChoice.read`; shares of 1, or with a sign.
        prefix: of what a decoder had written beside; None for methods that look at the source alone, and of models
            that read one text only.
        integration: of integrated gradients, how well the scores add up.
    """

    read: Float[Tensor, "token"]
    prefix: Float[Tensor, "prefix"] | None = None
    integration: Integration | None = None


def choice_run(reader: Reader, choice: TokenChoice, text: str) -> ChoiceRun:
    """A model and a choice as the methods need them. Raises a DataError if a side has more than `MOST_TOKENS` tokens.

    Args:
        reader: that does not lack "word choice".
        choice: at a place of this model.
        text: what is read there.
    """
    if (longest := max(len(choice.source), len(choice.prefix))) > MOST_TOKENS:
        message = "Attribution reads up to {most_tokens} tokens on each side, got {longest}; shorten the text."
        raise DataError(message, most_tokens=MOST_TOKENS, longest=longest)
    return run_of(reader, choice, text)


def run_of(reader: Reader, choice: TokenChoice, text: str) -> ChoiceRun:
    """The same of texts of any length."""
    if isinstance(reader, Translator):
        return TranslatorRun(reader, choice, reader.trace_tokens(text, [*choice.prefix[1:], choice.token]))
    assert isinstance(reader, TextReader), "whoever chooses between words is one of these"
    return LibraryRun(reader, choice, reader.trace_place(choice.place, choice.token))


def attribute(run: ChoiceRun, method: Method, progress: Callable[[int], None] = lambda points: None) -> Attribution:
    """What a method gives each token. Raises a TraceError if a method cannot take this model apart; it says why.

    Args:
        run: the model and the choice.
        method: "weights" are those of the row that makes the choice, the mean of all heads of all layers: of
            cross-attention where there is one, else of self-attention; "rollout" are the last layer's, followed back
            through those below (`metrics.measures`); the others are those of this folder. Those of `OF_CHOICE` know of
            the token it is set against.
        progress: called with the number of points that integrated gradients have taken so far.
    """
    choice, trace = run.choice, run.trace
    site = next(site for site in ("decoder.cross", "decoder.self", "encoder.self") if site in trace.sites)
    layers = range(trace.layers_of(site))
    integration = None
    match method:
        case "weights":
            rows = [mean_over_heads(trace.attention(site, layer))[choice.place.row] for layer in layers]
            return Attribution(torch.stack(rows).mean(0).cpu()[: len(choice.read)])
        case "rollout":
            return Attribution(rollout_at(trace, site, layers[-1])[choice.place.row].cpu()[: len(choice.read)])
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
