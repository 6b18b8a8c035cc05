"""What several pages share: the text, and the attention, layer, head and tokens that are looked at in it."""

from dataclasses import dataclass
from typing import Annotated, Final, Literal, get_args

from viz.selection.examples import EXAMPLES
from viz.selection.fields import MaxLength, Param, Proposed, ResetBy, SessionOnly
from viz.text.sites import ENCODER, Site

Measure = Literal["weights", "norms", "rollout"]
PictureFormat = Literal["PNG", "SVG", "PDF"]
PicturePaper = Literal["shown", "white", "transparent"]
Presented = Literal["", "1"]

MEASURE_NAMES: Final[tuple[Measure, ...]] = get_args(Measure)
PICTURE_FORMATS: Final[tuple[PictureFormat, ...]] = get_args(PictureFormat)


@dataclass(frozen=True, slots=True)
class Common:
    """What several pages share.

    Attributes:
        text: what the model reads.
        picture_digest: the picture that a person gave to a model of pictures; "" for the one we draw.
        site: which of the three attentions.
        layer, head: which head of it.
        head_chosen: whether a person chose site, layer and head; else the page proposes what is most worth seeing.
        further_heads: heads drawn beside it.
        token: the query that is looked at; None leaves that to the page.
        key_token: the key that is looked at; None leaves that to the page.
        step: which token of what the model writes is looked at.
        step_chosen: whether a person chose the step; else the page proposes the one most worth seeing.
        label: which of a classifier's labels is asked about; None for what it says.
        measure: what the numbers of an open head are.
        whole_words: whether the pieces of a word are joined.
        special_tokens: whether special tokens are shown.
        picture_format: what the camera of a chart saves.
        picture_paper: what saved pictures lie on.
        presented: "1" where a projector shows the page, one picture a screen; "" else.
        screen: which of the page's screens it shows then.
        story: the step of the story “Start here” that is shown, counted from 1; 0 where its bar is closed.
        shown_tabs: the tabs that alone are shown, as `viz.ui.shown_tabs` names them; none for all.
        language: the code of the language that the app speaks; "" is the browser's.
    """

    text: str = EXAMPLES[0].text
    picture_digest: Annotated[str, SessionOnly()] = ""
    site: Annotated[Site, Proposed("head_chosen")] = ENCODER
    layer: Annotated[int, Proposed("head_chosen")] = 0
    head: Annotated[int, Proposed("head_chosen")] = 0
    head_chosen: Annotated[bool, SessionOnly()] = False
    further_heads: Annotated[tuple[int, ...], Param("also")] = ()
    token: Annotated[int | None, ResetBy("text", "picture_digest", "site", "checkpoint", "chat", "pair", "pronoun")] = (
        None
    )
    key_token: Annotated[int | None, ResetBy("text", "picture_digest", "site", "checkpoint", "chat")] = None
    step: Annotated[int, Proposed("step_chosen"), ResetBy("text", "checkpoint", "chat")] = 0
    step_chosen: Annotated[bool, SessionOnly(), ResetBy("text", "checkpoint", "chat")] = False
    label: Annotated[int | None, ResetBy("text", "checkpoint")] = None
    measure: Measure = "weights"
    whole_words: Annotated[bool, Param("words")] = False
    special_tokens: Annotated[bool, Param("special")] = True
    picture_format: Annotated[PictureFormat, Param("pictures")] = "PNG"
    picture_paper: Annotated[PicturePaper, Param("paper")] = "shown"
    presented: Annotated[Presented, Param("present")] = ""
    screen: Annotated[int, ResetBy("attention_tab", "presented")] = 0
    story: int = 0
    shown_tabs: Annotated[tuple[str, ...], Param("only")] = ()
    language: Annotated[str, Param("lang"), MaxLength(16)] = ""

    @property
    def is_plain(self) -> bool:
        """Whether an open head shows its weights between all single tokens, as its tile does."""
        return self.measure == "weights" and self.special_tokens and not self.whole_words
