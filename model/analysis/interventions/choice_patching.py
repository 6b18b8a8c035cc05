"""Take one head's output from another text, in any model that says words: activation patching and direct paths.

Patching (Vig et al. 2020; Meng et al. 2022): the model reads A, but one head gives what it gave for B. The direct path
(path patching, Wang et al. 2022, "Interpretability in the Wild") is narrower: other heads keep what they gave for A,
so that what the head says differently reaches the word by the residual stream and the feed-forward networks only, and
not by heads of later layers that read it; and where `receivers` are named, by these heads only.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import torch
from jaxtyping import Float
from torch import Tensor

from model.analysis.corpus import Progress
from model.analysis.interventions.choice_effects import (
    SiteAndLayer,
    log_odds,
    recorded_outputs,
    rows_at_once,
    sweep,
)
from model.analysis.interventions.patching import NO_COUNTERPART, Patching, counterparts
from model.analysis.metrics.head_names import HeadName, all_heads, check_heads
from model.word_choice import Chooser, TokenPlace, WordChoice

Outputs = Mapping[SiteAndLayer, Float[Tensor, "1 head row d_v"]]


@dataclass(frozen=True)
class ChoicePair:
    """The same two words after two texts: likelier right after A, and wrong after B."""

    a: WordChoice
    b: WordChoice


@torch.inference_mode()
def patch_choices(reader: Chooser, pairs: Sequence[ChoicePair], progress: Progress = lambda done: None) -> Patching:
    """Take each head's output from B in turn, over all pairs.

    Rows are taken from their counterparts as in `patching.patch_heads`; the row that says the word is one of the row
    that says it in B. `progress` is called with the number of runs done: one for each pair and head.
    """
    a, b, patched = [], [], []
    for pair in pairs:
        own, taken = _aligned(reader, pair)
        a.append(own[0])
        b.append(taken[0])
        patched.append(sweep(reader, pair.a, lambda at, taken=taken: taken[1][at], progress))  # type: ignore[misc]
    return Patching(a=torch.tensor(a), b=torch.tensor(b), patched=torch.stack(patched))


@torch.inference_mode()
def patch_paths(
    reader: Chooser,
    pairs: Sequence[ChoicePair],
    receivers: Collection[HeadName] = (),
    progress: Progress = lambda done: None,
) -> Patching:
    """The direct path of each head, over all pairs; `progress` is called as above.

    Args:
        reader, pairs: the model, and at least one pair.
        receivers: heads of later layers; by default none, and what is measured is the path to the word itself.

    Raises:
        EditError: a receiver does not exist.
    """
    check_heads(reader.abilities.heads, receivers)
    a, b, patched = [], [], []
    for pair in pairs:
        own, taken = _aligned(reader, pair)
        a.append(own[0])
        b.append(taken[0])
        patched.append(_paths(reader, pair.a, own[1], taken[1], frozenset(receivers), progress))
    return Patching(a=torch.tensor(a), b=torch.tensor(b), patched=torch.stack(patched))


def _paths(
    reader: Chooser,
    choice: WordChoice,
    own: Outputs,
    taken: Outputs,
    receivers: frozenset[HeadName],
    progress: Progress,
) -> Float[Tensor, "head_of_model"]:
    """The log-odds with the path of each head, in the order of `all_heads`."""
    found = []
    heads = all_heads(reader.abilities.heads)
    for start in range(0, len(heads), size := rows_at_once(choice)):
        senders = heads[start : start + size]
        direct = _OneSenderEach(own, taken, senders, receivers)
        odds = log_odds(reader, choice, len(senders), direct)
        if receivers:
            odds = log_odds(reader, choice, len(senders), partial(_received, direct.heard))
        found.append(odds.cpu())
        progress(len(senders))
    return torch.cat(found)


@dataclass(frozen=True, eq=False)
class _OneSenderEach:
    """In copy i all heads give what they gave for A, but `senders[i]` what it gave for B.

    Attributes:
        heard: head → what it would give then, of the receivers.
    """

    own: Outputs
    taken: Outputs
    senders: Sequence[HeadName]
    receivers: frozenset[HeadName]
    heard: dict[HeadName, Float[Tensor, "copy row d_v"]] = field(default_factory=dict)

    def __call__(self, site: str, layer: int, output: Tensor) -> Tensor:
        kept = self.own[site, layer].expand_as(output).clone()
        for copy, sender in enumerate(self.senders):
            if (sender.site, sender.layer) == (site, layer):
                kept[copy, sender.head] = self.taken[site, layer][0, sender.head]
        for receiver in self.receivers:
            if (receiver.site, receiver.layer) == (site, layer):
                self.heard[receiver] = output[:, receiver.head]
        return kept


def _received(heard: Mapping[HeadName, Tensor], site: str, layer: int, output: Tensor) -> Tensor:
    """The heads' outputs, those of the receivers as they were heard."""
    changed = output.clone()
    for receiver, given in heard.items():
        if (receiver.site, receiver.layer) == (site, layer):
            changed[:, receiver.head] = given
    return changed


def _aligned(reader: Chooser, pair: ChoicePair) -> tuple[tuple[float, Outputs], tuple[float, Outputs]]:
    """The log-odds and outputs of A, and those of B at the rows of A."""
    (a, own), (b, taken) = recorded_outputs(reader, pair.a), recorded_outputs(reader, pair.b)
    return (a, own), (b, at_rows_of(pair.a.place, pair.b.place, own, taken))


def at_rows_of(
    a: TokenPlace, b: TokenPlace, own: Mapping[SiteAndLayer, Tensor], taken: Mapping[SiteAndLayer, Tensor]
) -> dict[SiteAndLayer, Tensor]:
    """The outputs [1, head, row, d_v] for B at the rows of A; A's own where a row has no counterpart."""
    stacks = {site.partition(".")[0] for site, _ in own}
    matches = {stack: row_matches(a, b, is_source=stack == "encoder") for stack in stacks}
    aligned = {}
    for at, output in own.items():
        positions = torch.tensor(matches[at[0].partition(".")[0]], device=output.device)
        matched = positions != NO_COUNTERPART
        rows = output.clone()
        rows[:, :, matched] = taken[at][:, :, positions[matched]]
        aligned[at] = rows
    return aligned


def row_matches(a: TokenPlace, b: TokenPlace, *, is_source: bool) -> list[int]:
    """For each row of a stack that reads A the row that reads its counterpart in B, or NO_COUNTERPART."""
    of_a, of_b = (place.source if is_source else place.target for place in (a, b))
    matches = counterparts(of_a, of_b)
    if is_source == bool(a.target):
        # Another stack says the word.
        return matches
    matches = [NO_COUNTERPART if match == b.row else match for match in matches]
    matches[a.row] = b.row
    return matches
