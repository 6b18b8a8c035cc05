"""What is chosen on the page that tests the paper's claims."""

from dataclasses import dataclass
from typing import Annotated, Literal

from viz.selection.fields import Param, Proposed, SessionOnly

WhyTab = Literal["Scores", "Pooling", "Table 1", "Live switches"]


@dataclass(frozen=True, slots=True)
class WhyAttentionChoices:
    """What is chosen on the page that tests the paper's claims.

    Attributes:
        why_tab: the open tab.
        score_width: d_k of the random queries and keys.
        score_size: how many queries and keys the cost of a score function is measured with, at most.
        pooling_width: σ of the kernel, in hundredths.
        pooling_width_chosen: whether a person chose it; else the page proposes the one that predicts best.
        pooling_query: where the query lies whose weights are looked at, in hundredths.
        layer_length, layer_width: n and d up to which layers are measured.
        kernel_width: k of the convolutions.
        window_size: r of restricted self-attention.
        off_layer: the layer that parts are taken out of, counted from 1; 0 for all.
        kept_head: the head that stays where all others are taken out.
    """

    why_tab: Annotated[WhyTab, Param("claim")] = "Scores"
    score_width: Annotated[int, Param("dk")] = 64
    score_size: Annotated[int, Param("pairs")] = 512
    pooling_width: Annotated[int, Param("sigma"), Proposed("pooling_width_chosen")] = 20
    pooling_width_chosen: Annotated[bool, SessionOnly()] = False
    pooling_query: Annotated[int, Param("at")] = 250
    layer_length: Annotated[int, Param("n")] = 1_024
    layer_width: Annotated[int, Param("d")] = 64
    kernel_width: Annotated[int, Param("k")] = 3
    window_size: Annotated[int, Param("r")] = 9
    off_layer: Annotated[int, Param("without")] = 0
    kept_head: Annotated[int, Param("kept")] = 0
