"""An invented row and what it was computed from."""

import torch

from model.analysis.metrics.derived_row import derive_row
from model.nn.attention import AttentionInputs
from model.nn.masks import AttentionMask
from viz.pages.learn.transformer.head_story import Origin


def origin_of(
    *,
    keys: int = 6,
    row: int = 3,
    causal: bool = True,
    scaled: bool = True,
    masked: bool = True,
    followed: int = 0,
    site: str = "decoder.self",
    tokens: list[str] | None = None,
) -> Origin:
    generator = torch.Generator().manual_seed(keys)
    query, key, value = (torch.randn(2, keys, 4, generator=generator) for _ in range(3))
    mask = AttentionMask(num_queries=keys, num_keys=keys, causal=causal)
    inputs = AttentionInputs(query=query, key=key, value=value, mask=mask, scale=0.5)
    parts = torch.randn(2, 8, generator=generator).numpy()
    is_real = scaled and masked
    return Origin(
        row_name="▁it",
        key_tokens=tokens or [f"▁{number}" for number in range(keys)],
        real=derive_row(inputs, 1, row, scaled=True, masked=True),
        other=None if is_real else derive_row(inputs, 1, row, scaled=scaled, masked=masked),
        followed=followed,
        site=site,
        head=1,
        parts=parts,
        other_part=None if is_real else parts[1] * 2,
    )
