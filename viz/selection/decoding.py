"""What is chosen on the decoding page."""

from dataclasses import dataclass
from typing import Annotated, Final, Literal, get_args

from viz.selection.fields import Param, ResetBy

DecodingTab = Literal[
    "Film", "Branches", "Edit attention", "Logit lens", "Beam search", "Sampling", "Cost", "Take it with you"
]  # fmt: skip
RowToken = Literal["in", "out"]
Edit = Literal["off", "uniform", "point"]

ROW_TOKENS: Final[tuple[RowToken, ...]] = get_args(RowToken)
EDITS: Final[tuple[Edit, ...]] = get_args(Edit)


@dataclass(frozen=True, slots=True)
class DecodingChoices:
    """What is chosen on the decoding page.

    Attributes:
        decoding_tab: the open tab.
        step: the step of decoding that is looked at.
        branches: what made other translations, as codes of `viz.pages.decoding.branch_codes`.
        branch: the one that is shown; 0 is the model's own translation.
        compared_branch: the one that it is compared with, if any.
        row_token: whether a row belongs to the token that the decoder reads ("in") or writes ("out").
        num_candidates: how many candidates are listed.
        temperature, top_p: of sampling, in hundredths; a `top_p` of 100 keeps all tokens.
        top_k: how many of the likeliest tokens are drawn from; 0 for all.
        num_samples: how many translations are drawn.
        sampling_seed: the seed of the first of them.
        beam_size: how many hypotheses beam search keeps.
        length_penalty: by which they compete, in hundredths.
        beam_node: the hypothesis that is open; None for the winner.
        edit: what happens to the weights of the chosen head.
        edit_once: whether that holds in this step only, and not from it on.
    """

    decoding_tab: Annotated[DecodingTab, Param("studio")] = "Film"
    step: Annotated[int, ResetBy("text", "site", "checkpoint")] = 0
    branches: Annotated[tuple[str, ...], ResetBy("text", "checkpoint")] = ()
    branch: Annotated[int, ResetBy("text", "checkpoint")] = 0
    compared_branch: Annotated[int | None, Param("against"), ResetBy("text", "checkpoint")] = None
    row_token: Annotated[RowToken, Param("whose")] = "out"
    num_candidates: Annotated[int, Param("candidates")] = 10
    temperature: int = 100
    top_k: int = 0
    top_p: int = 100
    num_samples: Annotated[int, Param("samples")] = 5
    sampling_seed: Annotated[int, Param("draw")] = 1
    beam_size: Annotated[int, Param("beam")] = 4
    length_penalty: Annotated[int, Param("penalty")] = 60
    beam_node: Annotated[int | None, Param("node"), ResetBy("text", "checkpoint", "beam_size", "length_penalty")] = None
    edit: Edit = "off"
    edit_once: Annotated[bool, Param("once")] = False
