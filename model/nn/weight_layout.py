"""How a model's matrices lie in memory. Knows nothing of what they mean; no value changes.

Decoding multiplies one row after the other, and is bound by reading the weights. A product of one row with a matrix of
more outputs than inputs takes a half to a third of the time if the matrix lies column by column, so that the outputs
are summed up side by side; with more inputs than outputs, row by row is faster. `python -m tests.benchmarks.decoding`
measures both.
"""

import torch
from torch import nn


@torch.no_grad()
def lay_out_for_decoding(model: nn.Module) -> None:
    """Lay every matrix of a linear map that has more outputs than inputs column by column, in place.

    Meant for a model that will not be trained further; on a GPU the layout makes no difference.
    """
    for module in model.modules():
        if isinstance(module, nn.Linear) and module.out_features > module.in_features:
            module.weight.data = module.weight.data.t().contiguous().t()
