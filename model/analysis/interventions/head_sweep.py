"""Replace the output of each head in turn, all heads of a layer in one batch.

The heads of a layer are one batch: variant i of every sentence has another output of head i.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from model.analysis.corpus import Progress
from model.analysis.interventions.contrast import ContrastBatch
from model.nn.encoder_decoder import SITES, site_path
from model.nn.hooks import listen
from model.nn.transformer import Transformer

SiteValues = Mapping[str, Sequence[Tensor]]
"""Site → per layer, outputs [sequence or 1, head, row or 1, d_v] to put in; the decoder has two sequences a case."""


@dataclass(frozen=True, eq=False)
class EachReplacesOne:
    """The function at a site's `hook_head_output`: variant i of the batch takes head i's output from `values`."""

    values: Float[Tensor, "sequence_or_one head row_or_one d_v"]

    def __call__(
        self, output: Float[Tensor, "variant_and_sequence head row d_v"]
    ) -> Float[Tensor, "variant_and_sequence head row d_v"]:
        """Replace."""
        heads = output.size(1)
        own = torch.eye(heads, dtype=torch.bool, device=output.device)[:, None, :, None, None]
        return torch.where(own, self.values.to(output), output.view(heads, -1, *output.shape[1:])).flatten(0, 1)


def sweep_heads(
    model: Transformer,
    batch: ContrastBatch,
    memory: Float[Tensor, "case source d_model"],
    values: SiteValues,
    progress: Progress,
) -> Float[Tensor, "case site layer head"]:
    """Log-odds of every case with each head's output replaced in turn, on the CPU.

    Args:
        model, batch, memory: the Transformer, the cases, and what its encoder makes of them.
        values: what each head gives instead of its own output.
        progress: called after each layer of a site with the number of runs done since the last call.
    """
    heads, layers = model.config.num_heads, model.config.equal_layers
    swept = torch.empty(batch.num_cases, len(SITES), layers, heads)
    for i, site in enumerate(SITES):
        for layer in range(layers):
            with listen(edits={f"{site_path(site, layer)}.hook_head_output": EachReplacesOne(values[site][layer])}):
                read = batch.encode(model, heads) if site == "encoder.self" else memory.repeat(heads, 1, 1)
                swept[:, i, layer] = batch.log_odds(model, read).T.cpu()
            progress(heads * batch.num_cases)
    return swept
