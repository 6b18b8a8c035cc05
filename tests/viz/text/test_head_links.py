"""A head that a text names is a link to it, where its attention is known."""

import pytest

from viz.text.head_links import linked
from viz.text.sites import CROSS, DECODER, ENCODER


@pytest.mark.parametrize(
    ("text", "site", "expected"),
    [
        ("L5 H2 follows", CROSS, "[L5 H2](#head-decoder.cross-L5H2) follows"),
        ("**L5 H2** of the cross-attention", "", "**[L5 H2](#head-decoder.cross-L5H2)** of the cross-attention"),
        ("encoder L1 H10, decoder self L2 H3", CROSS, None),
        # No attention, or two: it stays text.
        ("L5 H2", "", "L5 H2"),
        ("L5 H2 of the cross-attention or the encoder self-attention", "", None),
        ("`L5 H2` $L5 H2$ [L5 H2](#x) L0 H1 XL5 H2", CROSS, "`L5 H2` $L5 H2$ [L5 H2](#x) L0 H1 XL5 H2"),
    ],
)
def test_heads_in_markdown_are_links(text: str, site: str, expected: str | None) -> None:
    both = f"encoder [L1 H10](#head-{ENCODER}-L1H10), decoder self [L2 H3](#head-{DECODER}-L2H3)"
    unlinked = text if text.startswith("L5") else both
    assert linked(text, site) == (unlinked if expected is None else expected)
