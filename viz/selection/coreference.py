"""What is chosen on the page that compares two sentences, about what a pronoun refers to."""

from dataclasses import dataclass
from typing import Annotated, Final, Literal, get_args

from viz.selection.decoding import Edit
from viz.selection.fields import MaxLength, Param, Proposed, ResetBy, SessionOnly

CoreferenceTab = Literal["Side by side", "Measured", "Cause", "Two models"]
TextsOfBoth = Literal["text", "corpus"]
PairSet = Literal["curated", "file"]
Replacement = Literal["zero", "mean"]
CauseScope = Literal["pair", "set"]
CauseBy = Literal["off", "estimate", "swapped", "direct"]
OthersOf = Literal["model", "attention", "layer"]

PAIR_SETS: Final[tuple[PairSet, ...]] = get_args(PairSet)
#: What `word_pair` calls a person's own two texts.
OWN_TEXTS: Final = "own"
#: The fields of words marked in the first sentence, and in the second.
MARKS: Final = ("pronoun", "antecedent", "distractor")
OTHER_MARKS: Final = ("other_pronoun", "other_antecedent", "other_distractor")

_OfText = Annotated[int | None, ResetBy("text")]
_OfOtherText = Annotated[int | None, ResetBy("text", "other_text")]


@dataclass(frozen=True, slots=True)
class CoreferenceChoices:
    """What is chosen on the page that compares two sentences."""

    coreference_tab: Annotated[CoreferenceTab, Param("lab")] = "Side by side"  #: the open tab
    #: the second sentence, "" where the page offers one; the first is the text of all pages.
    other_text: Annotated[str, Param("other"), ResetBy("text")] = ""
    #: the query that is looked at in the second; None leaves that to the page.
    other_token: Annotated[int | None, ResetBy("other_text", "site", "checkpoint", "chat", "pair", "other_pronoun")] = (
        None
    )
    #: the name of a pair of the curated set; "" compares the two texts.
    pair: Annotated[str, MaxLength(60), ResetBy("text", "other_text")] = ""
    #: pronoun, antecedent, distractor: positions of words marked in the text; None where the page guesses.
    pronoun: _OfText = None
    antecedent: _OfText = None
    distractor: _OfText = None
    #: other_pronoun, other_antecedent, other_distractor: the same in the second sentence.
    other_pronoun: _OfOtherText = None
    other_antecedent: _OfOtherText = None
    other_distractor: _OfOtherText = None
    pair_set: Annotated[PairSet, Param("given")] = "curated"  #: what heads are measured on: the curated set, or a file
    heads_off: Annotated[tuple[str, ...], Param("off")] = ()  #: codes of the heads that are switched off
    others_off: Annotated[bool, Param("spare")] = False  #: whether these stay on, and all others are switched off
    #: of what all others are: of the whole model, or of the attentions or the layers of the chosen heads.
    others_of: Annotated[OthersOf, Param("of")] = "model"
    #: what a head that is switched off gives instead of its output.
    replacement: Annotated[Replacement, Param("instead")] = "zero"
    #: of a model that is asked for any two words, the name of a pair of the set, or `OWN_TEXTS`; "" leaves that to the
    #: page.
    word_pair: Annotated[str, MaxLength(60), Param("asked")] = ""
    #: the name of the model that the chosen one is compared with; "" leaves that to the page.
    second_model: Annotated[str, MaxLength(200), Param("beside")] = ""
    #: over what the heads of two models are compared: the open text, or our own sentences.
    texts_of_both: Annotated[TextsOfBoth, Param("over")] = "text"
    #: whether a cause is looked for in one pair or in all of them.
    cause_scope: Annotated[CauseScope, Param("scope")] = "pair"
    cause_by: Annotated[CauseBy, Param("by")] = "off"  #: by which intervention heads are ranked there
    edit: Annotated[Edit, Proposed("edit_chosen")] = "off"  #: what happens to the weights of the chosen head
    edit_chosen: Annotated[bool, SessionOnly()] = False  #: whether a person chose that; else the page proposes it
    edit_once: Annotated[bool, Param("once")] = False  #: whether that holds in this step only, and not from it on
