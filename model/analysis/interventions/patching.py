"""Take one head's output from another text: activation patching and direct paths.

Patching (Vig et al. 2020, "Investigating Gender Bias in Language Models Using Causal Mediation Analysis"; Meng et al.
2022, "Locating and Editing Factual Associations in GPT"; Heimersheim & Nanda 2024, "How to use and interpret activation
patching"): the model reads A, but one head gives what it gave for B. The direct path (path patching, Wang et al. 2022,
"Interpretability in the Wild") is narrower: other heads keep what they gave for A, so that what the head says
differently reaches the choice by the residual stream and the feed-forward networks only, and not by heads of later
layers that read it; and where `receivers` are named, by these heads only.

`indirect_object_pairs` ask who is given something: indirect object identification (IOI). "When Mary and John went to
the shop, John gave a drink to" goes on with Mary: the name that was said once (Wang et al. 2022, "Interpretability in
the Wild"). In the other sentence of a pair the giver is the other one. The sentences are our own; a model chooses
between the first tokens in which both names differ.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from functools import partial
from typing import Generic, TypeVar

import torch
from jaxtyping import Float
from torch import Tensor

from model.analysis.interventions.head_effects import (
    KeptOutputs,
    Outputs,
    batches,
    copies_at_once,
    most_heads,
    of_rows,
    sweep,
)
from model.analysis.metrics.head_metrics import HeadName, all_heads, check_heads
from model.interruption import Progress, no_progress
from model.word_choice import Choice, Chooser, TextChoice, TokenPlace, WordChoice, output_edits

NO_COUNTERPART = -1
#: Log-odds of A and B that are closer together, in nats, give no scale from 0 to 1.
SMALLEST_GAP = 1e-3


C_co = TypeVar("C_co", bound=WordChoice | TextChoice, covariant=True)


@dataclass(frozen=True)
class ChoicePair(Generic[C_co]):
    """The same choice after two texts: `right` is likelier after A, and `wrong` after B."""

    a: C_co
    b: C_co


@dataclass(frozen=True, eq=False, kw_only=True)
class Patching:
    """Log-odds of `right` against `wrong` (nats, CPU): reading A, reading B, and A with one head's output of B.

    Heads are in the order of `all_heads`.
    """

    a: Float[Tensor, "pair"]
    b: Float[Tensor, "pair"]
    patched: Float[Tensor, "pair head"]

    @property
    def changes(self) -> Float[Tensor, "pair head"]:
        """What the head of B adds to the log-odds of A."""
        return self.patched - self.a[:, None]

    @property
    def overall(self) -> Float[Tensor, "head"]:
        """Σ (patched − A) / Σ (B − A) over all pairs: no pair in which hardly anything is at stake can dominate."""
        gap = (self.b - self.a).sum()
        return self.changes.sum(0) / (gap if float(gap.abs()) >= SMALLEST_GAP else torch.nan)


@torch.inference_mode()
def patch_heads(reader: Chooser, pairs: Sequence[ChoicePair[Choice]], progress: Progress = no_progress) -> Patching:
    """Take each head's output from B in turn, over all pairs.

    A row is taken from its counterpart: the same position where both texts have as many tokens, else the token that
    matches it (`counterparts`); rows without one keep A's own output. The row that says the word is one of the row that
    says it in B.

    Args:
        pairs: at least one. Of two whole texts what follows the first token that differs may fit only one of A and B.
        progress: called with the number of runs done since the last call; there is one for each pair and head.
    """
    a, b = torch.empty(len(pairs)), torch.empty(len(pairs))
    patched = torch.empty(len(pairs), len(all_heads(reader.abilities.heads)))
    for numbers in batches(reader, [pair.a for pair in pairs], most_heads(reader)):
        batch = [pairs[number] for number in numbers]
        a[numbers], b[numbers], _, taken = _both_read(reader, batch)
        patched[numbers] = sweep(reader, [pair.a for pair in batch], taken.__getitem__, progress)
    return Patching(a=a, b=b, patched=patched)


@torch.inference_mode()
def patch_paths(
    reader: Chooser,
    pairs: Sequence[ChoicePair[Choice]],
    receivers: Collection[HeadName] = (),
    progress: Progress = no_progress,
) -> Patching:
    """The direct path of each head, over all pairs, one pair at a time, to the choice or to receivers in later layers.

    Raises an EditError if a receiver does not exist. `progress` is called as by `patch_heads`.
    """
    check_heads(reader.abilities.heads, receivers)
    a, b, patched = [], [], []
    for pair in pairs:
        of_a, of_b, own, taken = _both_read(reader, [pair])
        a.append(of_a)
        b.append(of_b)
        patched.append(_paths(reader, pair.a, own, taken, frozenset(receivers), progress))
    return Patching(a=torch.cat(a), b=torch.cat(b), patched=torch.stack(patched))


def _paths(
    reader: Chooser, choice: Choice, own: Outputs, taken: Outputs, receivers: frozenset[HeadName], progress: Progress
) -> Float[Tensor, "head"]:
    """The log-odds with the path of each head, in the order of `all_heads`."""
    odds = []
    heads = all_heads(reader.abilities.heads)
    for start in range(0, len(heads), size := copies_at_once([choice])):
        senders = heads[start : start + size]
        direct = _OneSenderEach(own, taken, senders, receivers)
        found = reader.log_odds([choice], len(senders), output_edits(reader, direct))
        if receivers:
            received = partial(_received, direct.heard.joined(), receivers)
            found = reader.log_odds([choice], len(senders), output_edits(reader, received))
        odds.append(found[:, 0].cpu())
        progress(len(senders))
    return torch.cat(odds)


@dataclass(frozen=True, eq=False)
class _OneSenderEach:
    """In copy i all heads give what they gave for A, but `senders[i]` what it gave for B."""

    own: Outputs
    taken: Outputs
    senders: Sequence[HeadName]
    receivers: frozenset[HeadName]
    heard: KeptOutputs = field(default_factory=KeptOutputs)  #: what the layers of the receivers would give then

    def __call__(self, site: str, layer: int, output: Tensor) -> Tensor:
        own, taken = (of_rows(outputs[site, layer], output) for outputs in (self.own, self.taken))
        kept = own.repeat(len(self.senders), 1, 1, 1)
        for copy, sender in zip(kept.view(len(self.senders), -1, *own.shape[1:]), self.senders, strict=True):
            if (sender.site, sender.layer) == (site, layer):
                copy[:, sender.head] = taken[:, sender.head]
        if any((receiver.site, receiver.layer) == (site, layer) for receiver in self.receivers):
            self.heard(site, layer, output)
        return kept


def _received(heard: Outputs, receivers: Collection[HeadName], site: str, layer: int, output: Tensor) -> Tensor:
    """The heads' outputs, those of the receivers as they were heard."""
    changed = output.clone()
    for receiver in receivers:
        if (receiver.site, receiver.layer) == (site, layer):
            changed[:, receiver.head] = of_rows(heard[site, layer], output)[:, receiver.head]
    return changed


def _both_read(
    reader: Chooser, pairs: Sequence[ChoicePair[Choice]]
) -> tuple[Float[Tensor, "pair"], Float[Tensor, "pair"], Outputs, Outputs]:
    """The log-odds of A and of B, the outputs for A, and those for B at the rows of A."""
    (odds_a, own, a), (odds_b, taken, b) = (
        _read(reader, choices) for choices in ([pair.a for pair in pairs], [pair.b for pair in pairs])
    )
    return odds_a, odds_b, own, at_rows_of(a, b, own, taken)


def _read(reader: Chooser, choices: Sequence[Choice]) -> tuple[Float[Tensor, "choice"], Outputs, list[TokenPlace]]:
    """The log-odds (on the CPU), the outputs, and what was read, in the order of the decoder's sequences."""
    kept = KeptOutputs()
    odds = reader.log_odds(choices, edits=output_edits(reader, kept))[0].cpu()
    places = [place for of_kind in zip(*(choice.places for choice in choices), strict=True) for place in of_kind]
    return odds, kept.joined(), places


def at_rows_of(a: Sequence[TokenPlace], b: Sequence[TokenPlace], own: Outputs, taken: Outputs) -> Outputs:
    """The outputs `taken` for B at the rows of A; A's `own` where a row has no counterpart.

    `a`, `b`: what was read, in the order of a batch's sequences; an encoder may have read the first of them only.
    """
    stacks = {site.partition(".")[0] for site, _ in own}
    matches = {
        stack: [torch.tensor(row_matches(*both, is_source=stack == "encoder")) for both in zip(a, b, strict=True)]
        for stack in stacks
    }
    aligned = {}
    for at, output in own.items():
        aligned[at] = output.clone()
        for rows, of_b, positions in zip(aligned[at], taken[at], matches[at[0].partition(".")[0]], strict=False):
            matched = (positions != NO_COUNTERPART).nonzero()[:, 0]
            rows[:, matched] = of_b[:, positions[matched]]
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


def counterparts(a: Sequence[int], b: Sequence[int]) -> list[int]:
    """For each token of A the position of its counterpart in B, or NO_COUNTERPART.

    With as many tokens in both, the same position; else the tokens of the longest runs that both have in common, in
    order (Ratcliff & Obershelp 1988, as in difflib).
    """
    if len(a) == len(b):
        return list(range(len(a)))
    matches = [NO_COUNTERPART] * len(a)
    for block in SequenceMatcher(None, a, b, autojunk=False).get_matching_blocks():
        matches[block.a : block.a + block.size] = range(block.b, block.b + block.size)
    return matches
