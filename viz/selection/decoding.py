"""What is chosen on the decoding page."""

from dataclasses import dataclass
from typing import Annotated, Final, Literal, NamedTuple, get_args

from viz.selection.fields import Param, Proposed, ResetBy, SessionOnly

DecodingTab = Literal["Film", "Inside", "Cost"]
Search = Literal["Greedy", "Beam search", "Sampling"]
Inside = Literal["Logit lens", "Attribution"]
Edit = Literal["off", "uniform", "point"]

#: Compared with no other token.
ALONE: Final = 0
EDITS: Final[tuple[Edit, ...]] = get_args(Edit)


class TokenFilter(NamedTuple):
    """Which tokens can be sampled: temperature and top p in hundredths; a top k of 0 and a top p of 100 keep all."""

    temperature: int
    top_k: int
    top_p: int


#: The model's own probabilities.
NO_FILTER: Final = TokenFilter(temperature=100, top_k=0, top_p=100)
#: What leaves out the unlikely tokens, from which a translation derails.
LIKELY_TOKENS: Final = TokenFilter(temperature=70, top_k=0, top_p=90)


@dataclass(frozen=True, slots=True)
class DecodingChoices:
    """What is chosen on the decoding page."""

    decoding_tab: Annotated[DecodingTab, Param("studio")] = "Film"  #: the open tab
    search: Search = "Greedy"  #: how the translation is found
    inside: Inside = "Logit lens"  #: what is read inside the model at each step
    #: what made other translations, as codes of `viz.selection.branch_codes`.
    branches: Annotated[tuple[str, ...], ResetBy("text", "checkpoint", "chat")] = ()
    #: the one that is shown; 0 is the model's own translation.
    branch: Annotated[int, ResetBy("text", "checkpoint", "chat")] = 0
    #: the one that it is compared with, if any.
    compared_branch: Annotated[int | None, Param("against"), ResetBy("text", "checkpoint", "chat")] = None
    num_candidates: Annotated[int, Param("candidates")] = 10  #: how many candidates are listed
    #: temperature, top_k, top_p: as in `TokenFilter`.
    temperature: Annotated[int, Proposed("filter_chosen")] = 100
    top_k: Annotated[int, Proposed("filter_chosen")] = 0
    top_p: Annotated[int, Proposed("filter_chosen")] = 100
    #: whether a person chose these three; else each tab proposes its own.
    filter_chosen: Annotated[bool, SessionOnly()] = False
    num_samples: Annotated[int, Param("samples")] = 5  #: how many translations are drawn
    sampling_seed: Annotated[int, Param("draw")] = 1  #: the seed of the first of them
    beam_size: Annotated[int, Param("beam")] = 4  #: how many hypotheses beam search keeps
    length_penalty: Annotated[int, Param("penalty")] = 60  #: by which they compete, in hundredths
    #: the hypothesis that is open; None for the winner.
    beam_node: Annotated[
        int | None, Param("node"), ResetBy("text", "checkpoint", "chat", "beam_size", "length_penalty")
    ] = None
    #: 1 + the id of the token that the written one is compared with, where it is explained; or `ALONE`.
    rival: Annotated[int, Param("than"), Proposed("rival_chosen"), ResetBy("text", "step", "checkpoint", "chat")] = (
        ALONE
    )
    #: whether a person chose that; else the page proposes it.
    rival_chosen: Annotated[bool, SessionOnly(), ResetBy("text", "step", "checkpoint", "chat")] = False

    @property
    def token_filter(self) -> TokenFilter:
        """The temperature, top k and top p."""
        return TokenFilter(self.temperature, self.top_k, self.top_p)
