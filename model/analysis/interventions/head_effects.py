"""Measure how much each head, or a set of heads, matters to a choice between two translations.

Michel, Levy & Neubig 2019 ("Are Sixteen Heads Really Better than One?") switch off one head at a time (§3.2), and
estimate the same from one backward pass (§4.1): I_h = E |Att_hᵀ ∂L/∂Att_h|. Here L is the log-odds of the right
translation against the wrong one (`model.analysis.interventions.contrast`), so that both are in nats and can be
compared.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from model.analysis.corpus import Progress
from model.analysis.interventions.contrast import ContrastCase, Measure, contrast_batches, contrast_ids
from model.analysis.interventions.head_sweep import SiteValues, sweep_heads
from model.analysis.interventions.replacement import removal_edits
from model.analysis.metrics.head_names import HeadName
from model.evaluation import Scores, evaluate
from model.nn.encoder_decoder import SITES, site_path
from model.nn.hooks import Edit, listen
from model.pairs import Pair
from model.translator import Translator


@dataclass(frozen=True, eq=False, kw_only=True)
class HeadEffects:
    """What becomes of a choice when one head is switched off, for each case and head. Tensors are on the CPU, in nats.

    Heads are in the order of a table [site, layer, head], or of a list where stacks differ.

    Attributes:
        intact: log-odds of right against wrong, with every head on.
        changes: what is added to them by switching off the head; below 0 where it helps the right translation.
    """

    intact: Float[Tensor, "case"]
    changes: Float[Tensor, "case *heads"]

    @property
    def mean_changes(self) -> Float[Tensor, "*heads"]:
        """The mean over cases: which way a head pushes."""
        return self.changes.mean(0)

    @property
    def importance(self) -> Float[Tensor, "*heads"]:
        """The mean over cases of the absolute change: how much it matters, whichever way it pushes."""
        return self.changes.abs().mean(0)

    @property
    def flips(self) -> Bool[Tensor, "case *heads"]:
        """Whether switching off the head makes the model prefer the other."""
        return is_flipped(self._of_each_head, self._of_each_head + self.changes)

    @property
    def accuracy(self) -> float:
        """Share of cases in which the right translation is preferred, with every head on."""
        return accuracy_of(self.intact)

    @property
    def accuracy_changes(self) -> Float[Tensor, "*heads"]:
        """How much larger that share becomes (−1 to 1) without each head."""
        return preferred(self._of_each_head + self.changes).mean(0) - self.accuracy

    @property
    def _of_each_head(self) -> Float[Tensor, "case *heads"]:
        return self.intact.view(-1, *(1 for _ in self.changes.shape[1:])).expand_as(self.changes)


@dataclass(frozen=True, eq=False, kw_only=True)
class RemovalEffect:
    """What becomes of a choice when a set of heads is switched off. Log-odds in nats, on the CPU."""

    intact: Float[Tensor, "case"]
    removed: Float[Tensor, "case"]

    @property
    def changes(self) -> Float[Tensor, "case"]:
        """What is added to the log-odds of each case."""
        return self.removed - self.intact

    @property
    def flips(self) -> Bool[Tensor, "case"]:
        """Whether the model prefers the other translation without the heads."""
        return is_flipped(self.intact, self.removed)

    @property
    def accuracy_change(self) -> float:
        """How much larger the share of right preferences becomes, −1 to 1."""
        return accuracy_of(self.removed) - accuracy_of(self.intact)


def is_flipped(before: Float[Tensor, "*shape"], after: Float[Tensor, "*shape"]) -> Bool[Tensor, "*shape"]:
    """Whether log-odds changed sides: what was preferred before is not preferred any more, or the other way round."""
    return (before > 0) != (after > 0)


def preferred(log_odds: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
    """1 where the right translation is preferred, ½ where neither is, else 0."""
    return (log_odds.sign() + 1) / 2


def accuracy_of(log_odds: Float[Tensor, "case"]) -> float:
    """Share of cases in which the right translation is preferred."""
    return float(preferred(log_odds).mean())


@torch.inference_mode()
def measure_effects(
    translator: Translator,
    cases: Sequence[ContrastCase],
    replacement: Float[Tensor, "site layer head d_v"],
    measure: Measure = "sentence",
    progress: Progress = lambda done: None,
) -> HeadEffects:
    """Switch off each head in turn, over all cases.

    Args:
        translator: the model.
        cases: at least one.
        replacement: what each head gives instead: `replacement.zero_outputs` or `mean_outputs`.
        measure: whether whole translations are compared, or the token in which they first differ.
        progress: called with the number of runs done since the last call; there is one for each case and head.

    Raises:
        InputTextError: a text is blank or too long.
        DataError: two translations of a case are the same.
    """
    values: SiteValues = {
        site: [of_layer[None, :, None].to(translator.device) for of_layer in replacement[i]]
        for i, site in enumerate(SITES)
    }
    ids = [contrast_ids(translator, case, measure) for case in cases]
    intact, swept = torch.empty(len(ids)), torch.empty(len(ids), *replacement.shape[:3])
    for numbers, batch in contrast_batches(translator, ids, translator.config.num_heads):
        memory = batch.encode(translator.model)
        intact[numbers] = batch.log_odds(translator.model, memory)[0].cpu()
        swept[numbers] = sweep_heads(translator.model, batch, memory, values, progress)
    return HeadEffects(intact=intact, changes=swept - intact[:, None, None, None])


def estimate_effects(
    translator: Translator,
    cases: Sequence[ContrastCase],
    replacement: Float[Tensor, "site layer head d_v"],
    measure: Measure = "sentence",
    progress: Progress = lambda done: None,
) -> HeadEffects:
    """`measure_effects` to first order, from one forward and one backward pass over each batch of cases.

    A gate ξ of each head leads from its replacement (0) to its own output (1): o = r + ξ (Att − r). The estimate
    is −∂L/∂ξ at 1 = −(Att − r)ᵀ ∂L/∂Att, summed over rows; with r = 0 its absolute mean is Michel et al.'s I_h.

    Arguments and errors are those of `measure_effects`; `progress` is called with the number of cases done.
    """
    ids = [contrast_ids(translator, case, measure) for case in cases]
    intact, changes = torch.empty(len(ids)), torch.empty(len(ids), *replacement.shape[:3])
    on_device = replacement.to(translator.device)
    for numbers, batch in contrast_batches(translator, ids):
        with torch.enable_grad():
            gates = torch.ones(batch.num_cases, *replacement.shape[:3], device=translator.device, requires_grad=True)
            with listen(edits=_gated(gates, on_device)):
                log_odds = batch.log_odds(translator.model, batch.encode(translator.model))[0]
            (gradient,) = torch.autograd.grad(log_odds.sum(), gates)
        intact[numbers], changes[numbers] = log_odds.detach().cpu(), -gradient.cpu()
        progress(len(numbers))
    return HeadEffects(intact=intact, changes=changes)


@torch.inference_mode()
def remove_heads(
    translator: Translator,
    cases: Sequence[ContrastCase],
    heads: Collection[HeadName],
    replacement: Float[Tensor, "site layer head d_v"],
    measure: Measure = "sentence",
) -> RemovalEffect:
    """Switch off a set of heads at once, over all cases.

    Raises:
        InputTextError, DataError: as in `measure_effects`.
        EditError: a head does not exist.
    """
    model, edits = translator.model, removal_edits(translator.config, heads, replacement)
    ids = [contrast_ids(translator, case, measure) for case in cases]
    intact, removed = torch.empty(len(ids)), torch.empty(len(ids))
    for numbers, batch in contrast_batches(translator, ids):
        intact[numbers] = batch.log_odds(model, batch.encode(model))[0].cpu()
        with listen(edits=edits):
            removed[numbers] = batch.log_odds(model, batch.encode(model))[0].cpu()
    return RemovalEffect(intact=intact, removed=removed)


@torch.inference_mode()
def translate_without(
    translator: Translator,
    text: str,
    heads: Collection[HeadName],
    replacement: Float[Tensor, "site layer head d_v"],
) -> str:
    """The greedy translation of a text with a set of heads switched off; with none, that of the model as it is.

    Raises:
        InputTextError: the text is blank or too long.
        EditError: a head does not exist.
    """
    with listen(edits=removal_edits(translator.config, heads, replacement)):
        return translator.translate(text)


def scores_without(
    translator: Translator,
    pairs: Sequence[Pair],
    heads: Collection[HeadName],
    replacement: Float[Tensor, "site layer head d_v"],
    progress: Progress = lambda done: None,
) -> Scores:
    """BLEU and chrF of greedy translations with a set of heads switched off; with none, of the model as it is.

    Raises:
        EditError: a head does not exist.
    """
    with listen(edits=removal_edits(translator.config, heads, replacement)):
        return evaluate(translator.model, translator.tokenizer, pairs, progress=progress)


def _gated(
    gates: Float[Tensor, "case site layer head"], replacement: Float[Tensor, "site layer head d_v"]
) -> dict[str, Edit]:
    """Full hook name → function that mixes each head's output with its replacement, by the gate of its case."""

    def at(site: int, layer: int) -> Edit:
        def mix(output: Float[Tensor, "batch head row d_v"]) -> Float[Tensor, "batch head row d_v"]:
            instead = replacement[site, layer][:, None]
            # The decoder reads each case twice: right translations, then wrong ones.
            of_batch = gates[:, site, layer].repeat(output.size(0) // gates.size(0), 1)[:, :, None, None]
            return (instead + of_batch * (output - instead)).to(output.dtype)

        return mix

    return {
        f"{site_path(name, layer)}.hook_head_output": at(site, layer)
        for site, name in enumerate(SITES)
        for layer in range(gates.size(2))
    }
