"""Measure how much each head, or a set of heads, matters to a choice between two tokens or two translations.

Michel, Levy & Neubig 2019 ("Are Sixteen Heads Really Better than One?") switch off one head at a time (§3.2), and
estimate the same from one backward pass (§4.1): I_h = E |Att_hᵀ ∂L/∂Att_h|. Here L are the log-odds of the right one
against the wrong one (`Chooser.log_odds`), so that both are in nats and can be compared. In place of a head stands
nothing (zero ablation, §2.3), or its mean, which takes out only what the head says about this text (Wang et al. 2022,
"Interpretability in the Wild", §2.2).
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Final

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from model.analysis.metrics.head_metrics import HeadName, check_heads
from model.interruption import Progress, no_progress
from model.nn.hooks import Edit, first_row, listen
from model.over_corpus import Partial, Sum, over_corpus
from model.reader import Writer
from model.word_choice import (
    NO_EDITS,
    Choice,
    Chooser,
    SiteAndLayer,
    TokenPlace,
    WordChoice,
    output_edits,
    output_hook,
    tokens_read,
)

Outputs = Mapping[SiteAndLayer, Float[Tensor, "_sequence _head _row _d_v"]]
"""What the heads put out while a batch is read."""
Replacement = Mapping[SiteAndLayer, Float[Tensor, "_head 1 _d_v"]]
"""What each head gives in every row instead of its own output."""
#: Padded tokens that are read side by side.
TOKENS_AT_ONCE: Final = 4_000


@dataclass(frozen=True, eq=False, kw_only=True)
class HeadEffects:
    """What becomes of choices when one head is switched off. Tensors are on the CPU, in nats."""

    intact: Float[Tensor, "choice"]  #: log-odds of right against wrong, with every head on
    #: what is added to them by switching off the head; below 0 where it helps the right one. Heads are in the order of
    #: `all_heads`.
    changes: Float[Tensor, "choice head"]

    @property
    def mean_changes(self) -> Float[Tensor, "head"]:
        """The mean over choices: which way a head pushes."""
        return self.changes.mean(0)

    @property
    def importance(self) -> Float[Tensor, "head"]:
        """The mean over choices of the absolute change: how much it matters, whichever way it pushes."""
        return self.changes.abs().mean(0)

    @property
    def flips(self) -> Bool[Tensor, "choice head"]:
        """Whether switching off the head makes the model prefer the other."""
        return is_flipped(self.intact[:, None], self.intact[:, None] + self.changes)

    @property
    def accuracy(self) -> float:
        """Share of choices in which the right one is preferred, with every head on."""
        return float(preferred(self.intact).mean())

    @property
    def accuracy_changes(self) -> Float[Tensor, "head"]:
        """How much larger that share becomes (−1 to 1) without each head."""
        return preferred(self.intact[:, None] + self.changes).mean(0) - self.accuracy


@dataclass(frozen=True, eq=False, kw_only=True)
class RemovalEffect:
    """What becomes of choices when a set of heads is switched off. Log-odds in nats, on the CPU."""

    intact: Float[Tensor, "choice"]
    removed: Float[Tensor, "choice"]

    @property
    def changes(self) -> Float[Tensor, "choice"]:
        """What is added to the log-odds of each choice."""
        return self.removed - self.intact

    @property
    def flips(self) -> Bool[Tensor, "choice"]:
        """Whether the model prefers the other one without the heads."""
        return is_flipped(self.intact, self.removed)


def is_flipped(before: Float[Tensor, "*#shape"], after: Float[Tensor, "*#shape"]) -> Bool[Tensor, "*shape"]:
    """Whether log-odds changed sides: what was preferred before is not preferred any more, or the other way round."""
    return (before > 0) != (after > 0)


def preferred(log_odds: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
    """1 where the right one is preferred, ½ where neither is, else 0."""
    return (log_odds.sign() + 1) / 2


@torch.inference_mode()
def measure_effects(
    reader: Chooser, choices: Sequence[Choice], replacement: Replacement | None = None, progress: Progress = no_progress
) -> HeadEffects:
    """Switch off each head in turn in every choice; all of words, or all of texts.

    Heads give instead what `mean_outputs` gives as `replacement`; without it nothing. `progress` counts the runs done
    since the last call; there is one for each choice and head.
    """
    nothing = torch.zeros(1, 1, 1, 1)
    values = lambda at: nothing if replacement is None else replacement[at][None]  # noqa: E731

    def of_batch(batch: Sequence[Choice]) -> tuple[Tensor, Tensor]:
        intact = reader.log_odds(batch)[0].cpu()
        return intact, sweep(reader, batch, values, progress) - intact[:, None]

    intact, changes = _over_choices(reader, choices, of_batch, most_heads(reader))
    return HeadEffects(intact=intact, changes=changes)


def estimate_effects(
    reader: Chooser, choices: Sequence[Choice], replacement: Replacement | None = None, progress: Progress = no_progress
) -> HeadEffects:
    """`measure_effects` to first order, from one forward and one backward pass over each batch of choices.

    A gate ξ of each head leads from its replacement (0) to its own output (1): o = r + ξ (Att − r). The estimate
    is −∂L/∂ξ at 1 = −(Att − r)ᵀ ∂L/∂Att, summed over rows; with r = 0 its absolute mean is Michel et al.'s I_h.

    Arguments are those of `measure_effects`; `progress` is called with the number of choices done.
    """

    def of_batch(batch: Sequence[Choice]) -> tuple[Tensor, Tensor]:
        gates = _Gates(reader, len(batch), replacement)
        with torch.enable_grad():
            odds = reader.log_odds(batch, edits=output_edits(reader, gates))[0]
            gradients = torch.autograd.grad(odds.sum(), list(gates.of_layer.values()))
        progress(len(batch))
        return odds.detach().cpu(), -torch.cat([gradient.cpu() for gradient in gradients], dim=1)

    intact, changes = _over_choices(reader, choices, of_batch)
    return HeadEffects(intact=intact, changes=changes)


@torch.inference_mode()
def remove_heads(
    reader: Chooser,
    choices: Sequence[Choice],
    heads: Collection[HeadName],
    replacement: Replacement | None = None,
    progress: Progress = no_progress,
) -> RemovalEffect:
    """Switch off heads at once in every choice, counted by `progress`. Raises an EditError if one does not exist."""
    check_heads(reader.abilities.heads, heads)
    without = off_edits(heads, replacement)

    def of_batch(batch: Sequence[Choice]) -> tuple[Tensor, Tensor]:
        odds = reader.log_odds(batch)[0].cpu(), reader.log_odds(batch, edits=without)[0].cpu()
        progress(len(batch))
        return odds

    intact, removed = _over_choices(reader, choices, of_batch)
    return RemovalEffect(intact=intact, removed=removed)


def _over_choices(
    reader: Chooser,
    choices: Sequence[Choice],
    of_batch: Callable[[Sequence[Choice]], tuple[Tensor, Tensor]],
    copies: int = 1,
) -> tuple[Tensor, Tensor]:
    """Both of what `of_batch` gives for each choice, in their order."""

    def of_chunk(chunk: Sequence[Choice], _progress: Progress) -> Partial:
        numbers, found = [], []
        for batch in batches(reader, chunk, copies):
            numbers += batch
            found.append(of_batch([chunk[number] for number in batch]))
        order = np.argsort(numbers)
        first, second = (torch.cat(parts).numpy()[order] for parts in zip(*found, strict=True))
        return Partial({}, {"first": first, "second": second})

    def finish(total: Partial) -> tuple[Tensor, Tensor]:
        return torch.from_numpy(total.rows["first"]), torch.from_numpy(total.rows["second"])

    return over_corpus(choices, Sum(of_chunk=of_chunk, finish=finish))


@contextmanager
def heads_off(writer: Writer, heads: Collection[HeadName], replacement: Replacement | None = None) -> Iterator[None]:
    """Models write without these heads in this block and thread. Raises an EditError if one does not exist."""
    check_heads(writer.abilities.heads, heads)
    with listen(edits=off_edits(heads, replacement)):
        yield


def off_edits(heads: Collection[HeadName], replacement: Replacement | None) -> dict[str, Edit]:
    """What switches these heads off, by hook."""
    off: dict[SiteAndLayer, list[int]] = {}
    for site, layer, head in sorted(heads):
        off.setdefault((site, layer), []).append(head)

    def without(at: SiteAndLayer, output: Tensor) -> Tensor:
        changed = output.clone()
        changed[:, off[at]] = 0.0 if replacement is None else replacement[at][off[at]].to(output)
        return changed

    return {output_hook(*at): partial(without, at) for at in off}


@torch.inference_mode()
def mean_outputs(reader: Chooser, places: Iterable[TokenPlace]) -> Replacement:
    """The mean of each head's output over all rows of what is read at these places."""

    def of_chunk(read: Sequence[WordChoice], _progress: Progress) -> Partial:
        sums: Counter[str] = Counter()
        for numbers in batches(reader, read):
            batch, kept = [read[number] for number in numbers], KeptOutputs()
            reader.log_odds(batch, edits=output_edits(reader, kept))
            lengths = {"encoder": [len(choice.place.source) for choice in batch]}
            lengths["decoder"] = [len(choice.place.target) for choice in batch]
            sums.update({stack: sum(of_stack) for stack, of_stack in lengths.items()})
            for (site, layer), output in kept.joined().items():
                of_stack = lengths[site.partition(".")[0]]
                ends = zip(output, of_stack, strict=True)
                of_rows = [of[:, :length].double().sum(1, keepdim=True) for of, length in ends]
                sums[f"{site}/{layer}"] += torch.stack(of_rows).sum(0).cpu()  # type: ignore[assignment]
        return Partial(sums, {})

    def finish(total: Partial) -> Replacement:
        means = {name.partition("/"): sums for name, sums in total.sums.items() if "/" in name}
        return {
            (site, int(layer)): torch.from_numpy(sums / total.sums[site.partition(".")[0]]).float()
            for (site, _, layer), sums in means.items()
        }

    return over_corpus([WordChoice(place, 0, 0) for place in places], Sum(of_chunk=of_chunk, finish=finish))


@torch.inference_mode()
def outputs_at(reader: Chooser, place: TokenPlace) -> tuple[Float[Tensor, "vocab"], Outputs]:
    """The logits of a place, and every head's output [1, head, row, d_v]."""
    kept = KeptOutputs()
    return reader.place_logits(place, edits=output_edits(reader, kept))[0], kept.joined()


@torch.inference_mode()
def likeliest(
    reader: Chooser, place: TokenPlace, count: int, edits: Mapping[str, Edit] = NO_EDITS
) -> list[tuple[int, float]]:
    """The most probable tokens of a place, with their probabilities; `edits` as of `place_logits`."""
    best = reader.place_logits(place, edits=edits)[0].softmax(-1).topk(count)
    return list(zip(best.indices.tolist(), best.values.tolist(), strict=True))


def most_heads(reader: Chooser) -> int:
    """The heads of the layer that has most."""
    return max(max(of_layers) for of_layers in reader.abilities.heads.values())


def batches(reader: Chooser, choices: Sequence[Choice], copies: int = 1) -> Iterator[list[int]]:
    """The numbers of choices of like length that are read side by side, so many times each."""
    order = sorted(range(len(choices)), key=lambda number: tokens_read(choices[number]))
    while order:
        longest = tokens_read(choices[order[-1]])
        size = max(1, TOKENS_AT_ONCE // (copies * longest)) if reader.pads else 1
        yield order[-size:]
        del order[-size:]


def copies_at_once(choices: Sequence[Choice]) -> int:
    """How many copies of a batch are read side by side."""
    return max(1, TOKENS_AT_ONCE // (len(choices) * max(map(tokens_read, choices))))


def sweep(
    reader: Chooser, choices: Sequence[Choice], values: Callable[[SiteAndLayer], Tensor], progress: Progress
) -> Float[Tensor, "choice head"]:
    """The log-odds of a batch with each head's output replaced in turn, in the order of `all_heads`, on the CPU.

    `values`: site and layer → outputs [sequence or 1, head or 1, row or 1, d_v or 1] to put in, one head at a time.
    """
    swept = []
    for site, of_layers in reader.abilities.heads.items():
        for layer, count in enumerate(of_layers):
            instead = values((site, layer))
            for heads in torch.split(torch.arange(count), copies_at_once(choices)):
                edits = {output_hook(site, layer): partial(_one_head_each, heads, instead)}
                swept.append(reader.log_odds(choices, len(heads), edits).T.cpu())
                progress(len(heads) * len(choices))
    return torch.cat(swept, dim=1)


def of_rows(values: Float[Tensor, "*any row_or_one width"], output: Float[Tensor, "batch head here d_v"]) -> Tensor:
    """Of values for all rows, or one for every row, those of the rows that are computed now: a GRU's one by one."""
    if values.size(-2) == 1:
        return values.to(output)
    begin = first_row()
    return values[..., begin : begin + output.size(2), :].to(output)


@dataclass(frozen=True, eq=False)
class KeptOutputs:
    """Keeps what all heads put out, and changes nothing."""

    calls: dict[SiteAndLayer, list[Tensor]] = field(default_factory=dict)

    def __call__(self, site: str, layer: int, output: Tensor) -> Tensor:
        """Keep these rows."""
        self.calls.setdefault((site, layer), []).append(output)
        return output

    def joined(self) -> Outputs:
        """The rows of all calls."""
        return {at: torch.cat(calls, dim=2) for at, calls in self.calls.items()}


def _one_head_each(heads: Tensor, values: Tensor, output: Tensor) -> Tensor:
    """Copy i of what is read has another output of head `heads[i]`."""
    is_its_own = (torch.arange(output.size(1)) == heads[:, None])[:, None, :, None, None].to(output.device)
    copies = output.view(len(heads), -1, *output.shape[1:])
    return torch.where(is_its_own, of_rows(values, output), copies).flatten(0, 1)


@dataclass(eq=False)
class _Gates:
    """A gate of each choice and head leads from the head's replacement (0) to its own output (1)."""

    reader: Chooser
    num_choices: int
    replacement: Replacement | None
    of_layer: dict[SiteAndLayer, Float[Tensor, "choice head"]] = field(init=False)

    def __post_init__(self) -> None:
        self.of_layer = {
            (site, layer): torch.ones(self.num_choices, count, device=self.reader.device, requires_grad=True)
            for site, layers in self.reader.abilities.heads.items()
            for layer, count in enumerate(layers)
        }

    def __call__(self, site: str, layer: int, output: Tensor) -> Tensor:
        # The decoder reads both texts of each choice: all right ones, then all wrong ones.
        gate = self.of_layer[site, layer].repeat(output.size(0) // self.num_choices, 1)[:, :, None, None].to(output)
        instead = 0.0 if self.replacement is None else self.replacement[site, layer].to(output)
        return (instead + gate * (output - instead)).to(output.dtype)
