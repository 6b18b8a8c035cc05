"""State for one head whether a choice between tokens depends on it, from three interventions side by side.

Each puts another output in place of the head's own, in every row, and asks what the model says then:

| intervention | what the head gives instead | what it asks |
|---|---|---|
| off | nothing (Michel et al. 2019) | does the choice need the head? |
| swapped | its output for the other sentence of a pair (Vig et al. 2020) | can what it says change the choice? |
| pointed | the value of one key, as if that had all weight; of all keys the costliest | can attention change it? |

The answers differ: a choice that survives the loss of a head may still be changed through it.
"""

from dataclasses import dataclass
from typing import Final, Literal

import torch
from jaxtyping import Float, Int
from torch import Tensor

from model.analysis.attribution.choice import TokenChoice
from model.analysis.interventions.head_effects import TOKENS_AT_ONCE, of_rows, outputs_at
from model.analysis.interventions.patching import at_rows_of
from model.analysis.metrics.head_metrics import HeadName, all_heads, check_heads
from model.errors import TraceError
from model.interruption import Progress, no_progress
from model.trace.trace import Trace
from model.word_choice import Chooser, TokenPlace, output_hook

Dependence = Literal["needs", "can change", "stays"]
#: What a head puts out and weights × values may differ by so much of its largest number.
CLOSE: Final = 1e-3


@dataclass(frozen=True)
class Intervention:
    """What one intervention does."""

    change: float  #: what is added to the choice (nats)
    said: int  #: the id of the token that the model says under it, as `TokenChoice.said` has it


@dataclass(frozen=True, kw_only=True)
class HeadVerdict:
    """Three interventions on one head, and what follows."""

    head: HeadName  #: whose output was replaced
    before: float  #: the choice (nats) as the model makes it
    said: int  #: the id of the token that it says
    off: Intervention  #: without the head
    swapped: Intervention | None = None  #: with its output for the other sentence; None where there is none
    #: at the key that costs the choice most; None where its values are not known, or its output is not what weights ×
    #: values give.
    pointed: Intervention | None = None
    key: int | None = None  #: that key's position

    @property
    def dependence(self) -> Dependence:
        """Whether the model says another token without the head, or only with another output of it, or never."""
        if self.off.said != self.said:
            return "needs"
        others = [each for each in (self.swapped, self.pointed) if each is not None]
        return "can change" if any(each.said != self.said for each in others) else "stays"


@torch.inference_mode()
def head_verdict(
    reader: Chooser, choice: TokenChoice, head: HeadName, trace: Trace, other: TokenPlace | None = None
) -> HeadVerdict:
    """Intervene on one head. Raises an EditError if there is no such head.

    The choice is made in `trace`, a run of this model without edits that may have gone on; in the other sentence of a
    pair, at `other`.
    """
    check_heads(reader.abilities.heads, [head])
    at = head.site, head.layer
    logits, outputs = outputs_at(reader, choice.place)
    own = outputs[at][0, head.head]
    before, said = float(choice.of_logits(logits[None])), int(choice.said(logits[None]))
    swapped: list[Tensor] = []
    if other is not None:
        swapped = [at_rows_of([choice.place], [other], outputs, outputs_at(reader, other)[1])[at][0, head.head]]
    pointed = _pointed(trace, head, own, choice.place.row)
    instead = torch.stack([torch.zeros_like(own), *swapped, *pointed.values()])
    off, *rest = _under(reader, choice, head, instead, before)
    of_keys = dict(zip(pointed, rest[len(swapped) :], strict=True))
    key = min(of_keys, key=lambda position: of_keys[position].change, default=None)
    return HeadVerdict(
        head=head,
        before=before,
        said=said,
        off=off,
        swapped=rest[0] if swapped else None,
        pointed=None if key is None else of_keys[key],
        key=key,
    )


@dataclass(frozen=True, eq=False)
class Pointed:
    """Every head in turn pointed at the key that costs a choice most, in the order of `all_heads`."""

    changes: Float[Tensor, "head"]  #: what is added to the choice (nats); NaN where a head cannot be pointed
    keys: Int[Tensor, "head"]  #: that key's position; −1 there


@torch.inference_mode()
def point_heads(reader: Chooser, choice: TokenChoice, trace: Trace, progress: Progress = no_progress) -> Pointed:
    """The intervention "pointed" on each head, counted by `progress`; other arguments as of `head_verdict`."""
    logits, outputs = outputs_at(reader, choice.place)
    before = float(choice.of_logits(logits[None]))
    changes, keys = [], []
    for head in all_heads(reader.abilities.heads):
        own = outputs[head.site, head.layer][0, head.head]
        pointed = _pointed(trace, head, own, choice.place.row)
        found = _under(reader, choice, head, torch.stack([*pointed.values()]), before) if pointed else []
        costs = [(each.change, key) for each, key in zip(found, pointed, strict=True)]
        change, key = min(costs, default=(torch.nan, -1))
        changes.append(change)
        keys.append(key)
        progress(1)
    return Pointed(torch.tensor(changes), torch.tensor(keys))


def _under(
    reader: Chooser, choice: TokenChoice, head: HeadName, instead: Float[Tensor, "copy row d_v"], before: float
) -> list[Intervention]:
    """The choice with each of these outputs in place of the head's own."""
    found: list[Intervention] = []
    for some in torch.split(instead, max(1, TOKENS_AT_ONCE // choice.place.length)):

        def put(output: Tensor, some: Tensor = some) -> Tensor:
            changed = output.clone()
            changed[:, head.head] = of_rows(some, output)
            return changed

        logits = reader.place_logits(choice.place, len(some), {output_hook(head.site, head.layer): put})
        both = zip(choice.of_logits(logits).tolist(), choice.said(logits).tolist(), strict=True)
        found += [Intervention(value - before, token) for value, token in both]
    return found


def _pointed(
    trace: Trace, head: HeadName, own: Float[Tensor, "row d_v"], row: int
) -> dict[int, Float[Tensor, "row d_v"]]:
    """Key → what the head gives where every row that sees this key gives it all weight.

    Of a decoder's self-attention these are the keys that the row of the choice sees.
    """
    inputs = trace.attention(head.site, head.layer)
    try:
        values = inputs.values([head.head])[0].to(own)
    except TraceError:
        return {}
    rows = slice(0, len(own))
    weights, seen = inputs.weights([head.head], rows)[0].to(own), inputs.mask.rows(rows)[0].to(own.device)
    if float((weights @ values - own).abs().max()) > CLOSE * float(own.abs().max()):
        return {}
    keys = range(len(values)) if head.site != "decoder.self" else seen[row].nonzero()[:, 0].tolist()
    return {key: torch.where(seen[:, key, None], values[key], own) for key in keys}
