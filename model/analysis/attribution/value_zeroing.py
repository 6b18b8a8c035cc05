"""Value zeroing: how far each output of a layer turns when the values of one token are taken away.

Mohebbi, Zuidema, Chrupała & Alishahi 2023 ("Quantifying Context Mixing in Transformers"): the distance is 1 − cosine,
of outputs of the whole layer, with its residual connections, norms and feed-forward network; rows are scaled to sum to
1 and followed through the layers as in rollout. The paper does so for encoders; in a decoder's layer the values of both
attentions, over the prefix and over the memory, are taken away one by one, and share a row.
"""

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import normalize

from model.analysis.attribution.choice import TokenScores
from model.analysis.attribution.choice_run import ChoiceRun, LayerRun
from model.analysis.attribution.mixing import Mix, of_row, shares

#: Rows that are run through a layer at once.
ROWS_AT_ONCE = 4_000


@torch.no_grad()
def value_zeroing(run: ChoiceRun) -> TokenScores:
    """The share of each token that was read in the row that makes the choice; they sum to 1.

    Raises:
        TraceError: the layers cannot be run by themselves.
    """
    mixes = []
    for layer in run.layers():
        away = torch.cat([distances(layer, site) for site in layer.keys], dim=1)
        mixed = shares(away, torch.arange(layer.rows))
        mixes.append(Mix(layer.stack, mixed[:, : layer.rows], mixed[:, layer.rows :]))
    return of_row(mixes, run.choice.place.row)


def distances(layer: LayerRun, site: str) -> Float[Tensor, "row key"]:
    """1 − cosine between a layer's outputs and those without the values of one key of an attention, on the CPU.

    It is computed as ½ ‖u/‖u‖ − v/‖v‖‖²: most outputs hardly turn, and 1 − cosine would be rounding alone.
    """
    whole, columns = normalize(layer.without(site, ()).float(), dim=-1), []
    for some in torch.split(torch.arange(layer.keys[site]), max(1, ROWS_AT_ONCE // layer.rows)):
        changed = normalize(layer.without(site, some.tolist()).float(), dim=-1)
        columns.append((changed - whole).square().sum(-1) / 2)
    return torch.cat(columns).T.cpu()
