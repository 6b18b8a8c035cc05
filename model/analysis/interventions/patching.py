"""Find the head that carries a choice: run one sentence with one head's output taken from another.

Activation patching (Vig et al. 2020, "Investigating Gender Bias in Language Models Using Causal Mediation Analysis";
Meng et al. 2022, "Locating and Editing Factual Associations in GPT"; Heimersheim & Nanda 2024, "How to use and
interpret activation patching"). Sentences A and B differ in a word that decides the choice. Both read the same two
translations along, so that every row of the decoder has its counterpart in the other run.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from model.analysis.corpus import Progress
from model.analysis.interventions import contrast
from model.analysis.interventions.contrast import ContrastBatch, ContrastCase, Measure, contrast_ids
from model.analysis.interventions.head_sweep import SiteValues, sweep_heads
from model.nn.encoder_decoder import SITES, site_path
from model.nn.hooks import listen
from model.nn.transformer import Transformer
from model.translator import Translator

NO_COUNTERPART = -1
#: Log-odds of A and B that are closer together, in nats, give no scale from 0 to 1.
SMALLEST_GAP = 1e-3


class PatchPair(NamedTuple):
    """Two sentences, a translation that is right for A and wrong for B, and one that is wrong for A and right for B."""

    source_a: str
    source_b: str
    right: str
    wrong: str


@dataclass(frozen=True, eq=False, kw_only=True)
class Patching:
    """Log-odds of `right` against `wrong` (nats, CPU): reading A, reading B, and A with one head's output of B."""

    a: Float[Tensor, "pair"]
    b: Float[Tensor, "pair"]
    patched: Float[Tensor, "pair *heads"]

    @property
    def changes(self) -> Float[Tensor, "pair *heads"]:
        """What the head of B adds to the log-odds of A."""
        return self.patched - self.a.view(-1, *(1 for _ in self.patched.shape[1:]))

    @property
    def overall(self) -> Float[Tensor, "*heads"]:
        """Σ (patched − A) / Σ (B − A) over all pairs: no pair in which hardly anything is at stake can dominate."""
        gap = (self.b - self.a).sum()
        return self.changes.sum(0) / (gap if float(gap.abs()) >= SMALLEST_GAP else torch.nan)


@torch.inference_mode()
def patch_heads(
    translator: Translator,
    pairs: Sequence[PatchPair],
    measure: Measure = "token",
    progress: Progress = lambda done: None,
) -> Patching:
    """Take each head's output from B in turn, over all pairs.

    In the decoder every row is taken from the same row. In the encoder a row is taken from its counterpart: the same
    position where both sentences have as many tokens, else the token that matches it (`counterparts`); rows without one
    keep A's own output.

    Args:
        translator, pairs: the model, and at least one pair.
        measure: by default the first token in which the translations differ: what follows may fit only one of A and B.
        progress: called with the number of runs done since the last call; there is one for each pair and head.

    Raises:
        InputTextError: a text is blank or too long.
        DataError: both translations of a pair are the same.
    """
    model, config = translator.model, translator.config
    ids = [
        [contrast_ids(translator, ContrastCase(source, *pair[2:]), measure) for source in pair[:2]] for pair in pairs
    ]
    a, b = torch.empty(len(ids)), torch.empty(len(ids))
    patched = torch.empty(len(ids), len(SITES), config.equal_layers, config.num_heads)
    for numbers, batch in contrast.contrast_batches(translator, [case_a for case_a, _ in ids], config.num_heads):
        other = contrast.make_batch(translator, [ids[number][1] for number in numbers])
        memory, own, a[numbers] = _record(model, batch)
        _, taken, b[numbers] = _record(model, other)
        matches = [counterparts(*(case.source for case in ids[number])) for number in numbers]
        values = {**taken, "encoder.self": _aligned(own["encoder.self"], taken["encoder.self"], matches)}
        patched[numbers] = sweep_heads(model, batch, memory, values, progress)
    return Patching(a=a, b=b, patched=patched)


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


def _record(
    model: Transformer, batch: ContrastBatch
) -> tuple[Float[Tensor, "case source d_model"], SiteValues, Float[Tensor, "case"]]:
    """What the encoder makes of the cases, every head's output, and the log-odds (on the CPU)."""
    with listen(record={"hook_head_output"}) as recorded:
        memory = batch.encode(model)
        log_odds = batch.log_odds(model, memory)[0].cpu()
    layers = range(model.config.equal_layers)
    outputs = {site: [recorded[f"{site_path(site, layer)}.hook_head_output"][0] for layer in layers] for site in SITES}
    return memory, outputs, log_odds


def _aligned(own: Sequence[Tensor], taken: Sequence[Tensor], matches: Sequence[Sequence[int]]) -> list[Tensor]:
    """B's outputs of every layer [case, head, row, d_v] at the rows of A; A's own where a row has no counterpart."""
    return [
        torch.stack([_rows(a, b, match) for a, b, match in zip(*layer, matches, strict=True)])
        for layer in zip(own, taken, strict=True)
    ]


def _rows(
    own: Float[Tensor, "head row d_v"], taken: Float[Tensor, "head other_row d_v"], match: Sequence[int]
) -> Float[Tensor, "head row d_v"]:
    positions = torch.tensor(match, device=own.device)
    matched = (positions != NO_COUNTERPART).nonzero()[:, 0]
    rows = own.clone()
    rows[:, matched] = taken[:, positions[matched]]
    return rows
