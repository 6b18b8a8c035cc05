"""Switch heads off in any model that says words, and see what becomes of a choice between two of them.

Log-odds are log p(right) − log p(wrong) of one token (nats), the difference of their logits: the next word of a
decoder, a masked word of an encoder, the first word of an encoder–decoder's text that differs. One head at a time, the
estimate from gradients and means instead of outputs are those of `head_effects`, through the heads' outputs alone.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import torch
from jaxtyping import Float
from torch import Tensor

from model.analysis.corpus import Progress
from model.analysis.interventions.head_effects import HeadEffects, RemovalEffect
from model.analysis.metrics.head_names import HeadName, check_heads
from model.word_choice import Chooser, OutputsEdit, TokenPlace, WordChoice

SiteAndLayer = tuple[str, int]
Replacement = Mapping[SiteAndLayer, Float[Tensor, "head 1 d_v"]]
"""What each head gives in every row instead of its own output."""
#: Tokens that are read side by side.
TOKENS_AT_ONCE: Final = 2_000


def log_odds(
    reader: Chooser, choice: WordChoice, copies: int = 1, outputs: OutputsEdit | None = None
) -> Float[Tensor, "copy"]:
    """How much likelier the right token is than the wrong one, for so many copies; arguments of `place_logits`."""
    logits = reader.place_logits(choice.place, copies, outputs)
    return logits[:, choice.right] - logits[:, choice.wrong]


@torch.inference_mode()
def mean_head_outputs(reader: Chooser, choices: Sequence[WordChoice]) -> Replacement:
    """The mean of each head's output over all rows of what is read in these choices."""
    totals: dict[SiteAndLayer, Tensor] = {}
    rows: dict[SiteAndLayer, int] = {}
    for choice in choices:
        for at, output in recorded_outputs(reader, choice)[1].items():
            totals[at] = totals.get(at, torch.zeros(())) + output[0].double().sum(1, keepdim=True).cpu()
            rows[at] = rows.get(at, 0) + output.size(2)
    return {at: (total / rows[at]).float() for at, total in totals.items()}


def recorded_outputs(reader: Chooser, choice: WordChoice) -> tuple[float, dict[SiteAndLayer, Tensor]]:
    """The log-odds, and every head's output [1, head, row, d_v] by site and layer."""
    logits, outputs = outputs_at(reader, choice.place)
    return float(logits[choice.right] - logits[choice.wrong]), outputs


@torch.inference_mode()
def outputs_at(reader: Chooser, place: TokenPlace) -> tuple[Float[Tensor, "vocab"], dict[SiteAndLayer, Tensor]]:
    """The logits of a place, and every head's output [1, head, row, d_v] by site and layer."""
    outputs: dict[SiteAndLayer, Tensor] = {}

    def keep(site: str, layer: int, output: Tensor) -> Tensor:
        outputs[site, layer] = output
        return output

    return reader.place_logits(place, outputs=keep)[0], outputs


@torch.inference_mode()
def measure_choices(
    reader: Chooser,
    choices: Sequence[WordChoice],
    replacement: Replacement | None = None,
    progress: Progress = lambda done: None,
) -> HeadEffects:
    """Switch off each head in turn in every choice.

    Args:
        reader: the model.
        choices: at least one.
        replacement: what heads give instead; None for nothing.
        progress: called with the number of runs done since the last call; there is one for each choice and head.
    """
    intact = torch.stack([log_odds(reader, choice)[0].cpu() for choice in choices])
    nothing = torch.zeros(1, 1, 1, 1)
    changed = [
        sweep(reader, choice, lambda at: nothing if replacement is None else replacement[at][None], progress)
        for choice in choices
    ]
    return HeadEffects(intact=intact, changes=torch.stack(changed) - intact[:, None])


def rows_at_once(choice: WordChoice) -> int:
    """How many copies of what is read are run side by side."""
    return max(1, TOKENS_AT_ONCE // choice.place.length)


def sweep(
    reader: Chooser,
    choice: WordChoice,
    values: Callable[[SiteAndLayer], Tensor],
    progress: Progress,
) -> Float[Tensor, "head_of_model"]:
    """The log-odds of a choice with each head's output replaced in turn, in the order of `all_heads`, on the CPU.

    Args:
        reader, choice: whose.
        values: site and layer → outputs [1, head or 1, row or 1, d_v or 1] to put in, one head at a time.
        progress: called with the number of runs done since the last call.
    """
    found = []
    for site, of_layers in reader.abilities.heads.items():
        for layer, count in enumerate(of_layers):
            instead = values((site, layer))
            for heads in torch.split(torch.arange(count), rows_at_once(choice)):
                edit = _OneHeadEach((site, layer), heads, instead)
                found.append(log_odds(reader, choice, len(heads), edit).cpu())
                progress(len(heads))
    return torch.cat(found)


def estimate_choices(
    reader: Chooser,
    choices: Sequence[WordChoice],
    replacement: Replacement | None = None,
    progress: Progress = lambda done: None,
) -> HeadEffects:
    """`measure_choices` to first order, from one forward and one backward pass for each choice (`estimate_effects`).

    `progress` is called after each choice.
    """
    intact, changes = [], []
    for choice in choices:
        gates = _Gates(reader, replacement)
        with torch.enable_grad():
            odds = log_odds(reader, choice, outputs=gates)[0]
            gradients = torch.autograd.grad(odds, list(gates.of_layer.values()))
        intact.append(odds.detach().cpu())
        changes.append(-torch.cat([gradient.cpu() for gradient in gradients]))
        progress(1)
    return HeadEffects(intact=torch.stack(intact), changes=torch.stack(changes))


@torch.inference_mode()
def remove_in_choices(
    reader: Chooser,
    choices: Sequence[WordChoice],
    heads: Collection[HeadName],
    replacement: Replacement | None = None,
    progress: Progress = lambda done: None,
) -> RemovalEffect:
    """Switch off a set of heads at once in every choice; `progress` is called after each.

    Raises:
        EditError: a head does not exist.
    """
    check_heads(reader.abilities.heads, heads)
    without = off_edit(heads, replacement)
    intact, removed = [], []
    for choice in choices:
        intact.append(log_odds(reader, choice)[0].cpu())
        removed.append(log_odds(reader, choice, outputs=without)[0].cpu())
        progress(1)
    return RemovalEffect(intact=torch.stack(intact), removed=torch.stack(removed))


def off_edit(heads: Collection[HeadName], replacement: Replacement | None = None) -> OutputsEdit:
    """What switches these heads off: for `place_logits`."""
    off: dict[SiteAndLayer, list[int]] = {}
    for site, layer, head in sorted(heads):
        off.setdefault((site, layer), []).append(head)

    def without(site: str, layer: int, output: Tensor) -> Tensor:
        if not (here := off.get((site, layer))):
            return output
        changed = output.clone()
        changed[:, here] = 0.0 if replacement is None else replacement[site, layer][here].to(output)
        return changed

    return without


@torch.inference_mode()
def likeliest(
    reader: Chooser, place: TokenPlace, count: int, outputs: OutputsEdit | None = None
) -> list[tuple[int, float]]:
    """The most probable tokens of a place, with their probabilities; `outputs` as of `place_logits`."""
    best = reader.place_logits(place, outputs=outputs)[0].softmax(-1).topk(count)
    return list(zip(best.indices.tolist(), best.values.tolist(), strict=True))


@dataclass(frozen=True, eq=False)
class _OneHeadEach:
    """Copy i of what is read has another output of head `heads[i]` at one site and layer."""

    at: SiteAndLayer
    heads: Tensor
    values: Tensor

    def __call__(self, site: str, layer: int, output: Tensor) -> Tensor:
        if (site, layer) != self.at:
            return output
        own = torch.arange(output.size(1)) == self.heads[:, None]
        return torch.where(own[:, :, None, None].to(output.device), self.values.to(output), output)


@dataclass(eq=False)
class _Gates:
    """A gate of each head leads from its replacement (0) to its own output (1)."""

    reader: Chooser
    replacement: Replacement | None
    of_layer: dict[SiteAndLayer, Tensor] = field(init=False)

    def __post_init__(self) -> None:
        self.of_layer = {
            (site, layer): torch.ones(count, device=self.reader.device, requires_grad=True)
            for site, layers in self.reader.abilities.heads.items()
            for layer, count in enumerate(layers)
        }

    def __call__(self, site: str, layer: int, output: Tensor) -> Tensor:
        gate = self.of_layer[site, layer][None, :, None, None].to(output)
        instead = 0.0 if self.replacement is None else self.replacement[site, layer].to(output)
        return instead + gate * (output - instead)
