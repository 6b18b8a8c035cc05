"""Switch heads off through hooks: replace their output by zero, or by its mean.

Zero ablation takes the head out (Michel et al. 2019, "Are Sixteen Heads Really Better than One?", §2.3). Mean ablation
leaves what the head adds whatever the sentence is, and so takes out only what it says about this one (Wang et al. 2022,
"Interpretability in the Wild", §2.2).
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from model.analysis.corpus import CorpusSentence, Progress, read_corpus
from model.analysis.metrics.head_names import HeadName, check_heads, heads_of
from model.config import TransformerConfig
from model.nn.encoder_decoder import SITES, site_path
from model.nn.hooks import Edit
from model.translator import Translator


def zero_outputs(config: TransformerConfig) -> Float[Tensor, "site layer head d_v"]:
    """Zero ablation: nothing instead of each head."""
    return torch.zeros(len(SITES), config.equal_layers, config.num_heads, config.d_k)


def mean_outputs(
    translator: Translator, sentences: Iterable[CorpusSentence], progress: Progress = lambda done: None
) -> Float[Tensor, "site layer head d_v"]:
    """Mean ablation: the mean of each head's output over all rows of a reference corpus. An `Atlas` keeps its own.

    Arguments and errors are those of `read_corpus`.
    """
    totals = MeanOutputs()
    for run in read_corpus(translator, sentences, progress).runs:
        for site, heads in run.sites.items():
            if (value := heads.value) is not None:
                totals.add(site, heads.weights() @ value)
    means = torch.stack([totals.means()[site] for site in SITES])
    return means.view(len(SITES), translator.config.equal_layers, translator.config.num_heads, -1)


class MeanOutputs:
    """A running mean of head outputs over rows, for each site."""

    def __init__(self) -> None:
        self._sums: dict[str, Tensor] = {}
        self._rows: dict[str, int] = {}

    def add(self, site: str, outputs: Float[Tensor, "layer_and_head row d_v"]) -> None:
        """Take in the rows of one sentence."""
        total = outputs.double().sum(1)
        self._sums[site] = self._sums[site] + total if site in self._sums else total
        self._rows[site] = self._rows.get(site, 0) + outputs.size(1)

    def means(self) -> dict[str, Float[Tensor, "layer_and_head d_v"]]:
        """Site → the means so far."""
        return {site: (total / self._rows[site]).float() for site, total in self._sums.items()}


@dataclass(frozen=True, eq=False)
class ReplaceHeads:
    """The function at a site's `hook_head_output`: some heads give a constant, in every row, on the fused path."""

    heads: tuple[int, ...]
    values: Float[Tensor, "chosen_head d_v"]

    def __call__(self, output: Float[Tensor, "batch head row d_v"]) -> Float[Tensor, "batch head row d_v"]:
        """Replace."""
        replaced = output.clone()
        replaced[:, list(self.heads)] = self.values.to(output)[:, None, :]
        return replaced


def removal_edits(
    config: TransformerConfig, heads: Collection[HeadName], replacement: Float[Tensor, "site layer head d_v"]
) -> Mapping[str, Edit]:
    """Full hook name → function, with these heads switched off; for `Translator.trace`, `decode` and `hooks.listen`.

    Raises:
        EditError: a head does not exist.
    """
    check_heads(heads_of(config), heads)
    edits: dict[str, Edit] = {}
    for site, layer in sorted({(name.site, name.layer) for name in heads}):
        here = tuple(sorted(name.head for name in heads if (name.site, name.layer) == (site, layer)))
        values = replacement[SITES.index(site), layer, list(here)]
        edits[f"{site_path(site, layer)}.hook_head_output"] = ReplaceHeads(here, values)
    return edits
