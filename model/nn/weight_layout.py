"""Store weight matrices in the order in which decoding on a CPU reads them fastest; no value changes.

Decoding multiplies one row at a time, and is bound by reading the weights. With more outputs than inputs such a product
takes a half to a third of the time if the matrix is stored by columns; with more inputs than outputs, by rows
(`python -m tests.benchmarks.decoding` measures both).
"""

import torch
from torch import nn


@torch.no_grad()
def lay_out_for_decoding(model: nn.Module) -> None:
    """Store every matrix of a linear map with more outputs than inputs by columns, in place.

    For a model that will not be trained further; on a GPU it makes no difference.
    """
    for module in model.modules():
        if isinstance(module, nn.Linear) and module.out_features > module.in_features:
            module.weight.data = module.weight.data.t().contiguous().t()
