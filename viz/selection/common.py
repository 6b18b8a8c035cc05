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
    """What several pages share."""

    text: str = EXAMPLES[0].text  #: what the model reads
    #: the picture that a person gave to a model of pictures; "" for the one we draw.
    picture_digest: Annotated[str, SessionOnly()] = ""
    site: Annotated[Site, Proposed("head_chosen")] = ENCODER  #: which of the three attentions
    #: layer, head: which head of it.
    layer: Annotated[int, Proposed("head_chosen")] = 0
    head: Annotated[int, Proposed("head_chosen")] = 0
    #: whether a person chose site, layer and head; else the page proposes what is most worth seeing.
    head_chosen: Annotated[bool, SessionOnly()] = False
    further_heads: Annotated[tuple[int, ...], Param("also")] = ()  #: heads drawn beside it
    #: the query that is looked at; None leaves that to the page.
    token: Annotated[int | None, ResetBy("text", "picture_digest", "site", "checkpoint", "chat", "pair", "pronoun")] = (
        None
    )
    #: the key that is looked at; None leaves that to the page.
    key_token: Annotated[int | None, ResetBy("text", "picture_digest", "site", "checkpoint", "chat")] = None
    #: which token of what the model writes is looked at.
    step: Annotated[int, Proposed("step_chosen"), ResetBy("text", "checkpoint", "chat")] = 0
    #: whether a person chose the step; else the page proposes the one most worth seeing.
    step_chosen: Annotated[bool, SessionOnly(), ResetBy("text", "checkpoint", "chat")] = False
    #: which of a classifier's labels is asked about; None for what it says.
    label: Annotated[int | None, ResetBy("text", "checkpoint")] = None
    measure: Measure = "weights"  #: what the numbers of an open head are
    whole_words: Annotated[bool, Param("words")] = True  #: whether the pieces of a word are joined
    special_tokens: Annotated[bool, Param("special")] = True  #: whether special tokens are shown
    picture_format: Annotated[PictureFormat, Param("pictures")] = "PNG"  #: what the camera of a chart saves
    picture_paper: Annotated[PicturePaper, Param("paper")] = "shown"  #: what saved pictures lie on
    #: "1" where a projector shows the page, one picture a screen; "" else.
    presented: Annotated[Presented, Param("present")] = ""
    screen: Annotated[int, ResetBy("attention_tab", "presented")] = 0  #: which of the page's screens it shows then
    story: int = 0  #: the step of the story “Start here” that is shown, counted from 1; 0 where its bar is closed
    #: the tabs that alone are shown, as `viz.ui.shown_tabs` names them; none for all.
    shown_tabs: Annotated[tuple[str, ...], Param("only")] = ()
    #: the code of the language that the app speaks; "" is the browser's.
    language: Annotated[str, Param("lang"), MaxLength(16)] = ""
