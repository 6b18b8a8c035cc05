"""Find the small `AttentionMask` that allows the same keys as a model's array of booleans.

Every result has been compared with the booleans, row by row; only a mask that follows no rule known here is kept
as it is.
"""

from collections.abc import Iterator

import torch
from jaxtyping import Bool
from torch import Tensor

from model.nn.masks import AttentionMask

ROWS_AT_ONCE = 256


def mask_behind(
    allowed: Bool[Tensor, "batch query key"], *, first_query: int | None = None, local_size: int | None = None
) -> AttentionMask:
    """A mask that allows exactly the same keys.

    Args:
        first_query: position of row 0 among the keys; by default the last row is that of the last key.
        local_size: of a window or of chunks, where the model has them.
    """
    for candidate in _candidates(allowed, first_query, local_size):
        if _is_same(candidate, allowed):
            return candidate
    if bool((allowed == allowed[:1]).all()):
        allowed = allowed[:1]
    return AttentionMask(num_queries=allowed.size(1), num_keys=allowed.size(2), explicit=allowed, device=allowed.device)


def _candidates(allowed: Tensor, first_query: int | None, local_size: int | None) -> Iterator[AttentionMask]:
    """Likely rules, the commonest first."""
    _, num_queries, num_keys = allowed.shape
    # A key that no row of a sentence may see is padding, or one that comes later than every row.
    seen = allowed.any(dim=1)
    first = num_keys - num_queries if first_query is None else first_query
    later = torch.arange(num_keys, device=allowed.device) > first + num_queries - 1
    # Some windows count the query's own position, some do not.
    local = () if local_size is None else ((local_size, None), (local_size + 1, None), (None, local_size))
    for padding in (None, seen, seen | later):
        if padding is not None and bool(padding.all()):
            continue
        for window, chunk in ((None, None), *local):
            for causal in (True, False):
                yield AttentionMask(
                    num_queries=num_queries,
                    num_keys=num_keys,
                    key_padding=padding,
                    causal=causal,
                    first_query=max(0, first) if causal or window or chunk else 0,
                    window=window,
                    chunk=chunk,
                    device=allowed.device,
                )


def _is_same(mask: AttentionMask, allowed: Tensor) -> bool:
    blocks = (slice(first, first + ROWS_AT_ONCE) for first in range(0, allowed.size(1), ROWS_AT_ONCE))
    return all(bool((mask.rows(rows) == allowed[:, rows]).all()) for rows in blocks)
