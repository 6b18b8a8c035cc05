"""What each box of the map does, what it says below its name, and where it leads."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from viz.selection.attention import ALL_HEADS
from viz.selection.pages import Section
from viz.text.messages import _, plural, said
from viz.text.sites import CROSS, DECODER, ENCODER, SITES

if TYPE_CHECKING:
    from viz.pages.learn.architecture.data import Shape

#: Kind of a box → what it does.
_TEXTS: Final = {
    "inputs": said("The text, cut into tokens."),
    "positions": said("A vector for the place is added: attention alone knows no order (§3.5)."),
    "feed_forward": said("Two linear maps with a non-linear function between, at each position alike (§3.3)."),
    "final_norm": said("In this model norms stand before the sub-layers, so one more follows the last layer."),
    "softmax": said("Logits become probabilities; the likeliest token is written and read in the next step."),
}
#: How a model knows positions → as people read it.
POSITIONS: Final = {
    "sinusoidal": said("sinusoidal"),
    "learned": said("learned"),
    "rotary": said("rotary"),
    "ALiBi": "ALiBi",
    "relative bias": said("relative bias"),
    "none": said("none"),
}


@dataclass(frozen=True)
class Lead:
    """What a box opens.

    Attributes:
        name: as people read it.
        page: the folder of the page.
        choices: of the selection.
    """

    name: str
    page: Section
    choices: dict[str, object] = field(default_factory=dict)


def notes(shape: "Shape", stack: str) -> dict[str, str]:
    """Kind of a box → the numbers below its name, as far as the model's settings say them."""
    sites = {"self": ENCODER if stack == "encoder" else DECODER, "cross": CROSS}
    heads = dict(shape.heads)
    known = {kind: _heads(heads[site], shape.d_model) for kind, site in sites.items() if site in heads}
    width, inner, vocabulary = shape.d_model, shape.d_ff, shape.vocab_size
    if width and vocabulary:
        known["embedding"] = _("{count:,} tokens × {width}", count=vocabulary, width=width)
        known["linear"] = f"{width} → {vocabulary:,}"
    if width and inner:
        known["feed_forward"] = f"{width} → {inner:,} → {width}"
    if vocabulary:
        known["softmax"] = _("{count:,} probabilities", count=vocabulary)
    return known


def _heads(count: int, width: int | None) -> str:
    if width and width % count == 0:
        return plural("{count} head of {width}", "{count} heads of {width}", count, width=width // count)
    return plural("{count} head", "{count} heads", count)


def texts(shape: "Shape", stack: str) -> dict[str, str]:
    """Kind of a box → what it does, in a sentence or two."""
    does = {kind: _(text) for kind, text in _TEXTS.items()}
    does["embedding"] = (
        _("Each token becomes its row of a matrix, times √d_model (§3.4).")
        if shape.is_scaled
        else _("Each token becomes its row of a matrix.")
    )
    if stack == "encoder":
        does["self"] = _("Every token of the text looks at every other, in each head in another way (§3.2).")
        return does
    if shape.encoder_layers:
        does["inputs"] = _("What is written so far, one place to the right: each row predicts the token after it.")
    does["self"] = _("The token looks at what came before it and never ahead: a mask cuts that off (§3.2.3).")
    does["cross"] = _(
        "The token looks at the source: its query is from here, keys and values are the encoder's (§3.2.3)."
    )
    does["linear"] = _("The dot product with a row for each token of the vocabulary: a logit for each (§3.4).")
    return does


def lead(box: str, layer: int, row: int) -> Lead:
    """What a box opens for the current sentence.

    Args:
        box: a stack and a kind.
        layer: in which the film is, from 0; -1 for none.
        row: that the decoder reads, from 0; -1 for none.
    """
    stack, kind = box.split(".")
    if kind in ("self", "cross"):
        site = f"{stack}.{kind}"
        assert site in SITES
        inside: dict[str, object] = {"layer": layer, "head": 0} if layer >= 0 else {}
        name = _("its heads on the page Attention")
        return Lead(name, "attention", {"attention_tab": ALL_HEADS, "site": site} | inside)
    if kind == "positions":
        side = "source" if stack == "encoder" else "target"
        choices = {"masks_tab": "Positional encodings", "side": side}
        return Lead(_("the encodings on the page Masks & positions"), "masks_positions", dict(choices))
    if kind == "softmax" or (kind, stack) == ("inputs", "decoder"):
        step: dict[str, object] = {"step": row} if row >= 0 else {}
        return Lead(_("the film on the page Decode"), "decoding", {"decoding_tab": "Film"} | step)
    if kind == "linear":
        return Lead(_("the logit lens on the page Decode"), "decoding", {"decoding_tab": "Logit lens"})
    if kind == "layers":
        return Lead(_("what every head does, on the page Atlas"), "atlas", {"atlas_tab": "Layer × head"})
    return Lead(_("a token followed through it"), "learn", _followed(stack, kind, layer, row))


def _followed(stack: str, kind: str, layer: int, row: int) -> dict[str, object]:
    """The stage of the tab that follows a token, and in the decoder the token that the film is at."""
    choices: dict[str, object] = {"learn_tab": "Follow one token", "followed_stack": stack}
    if stack == "decoder":
        choices["followed_token"] = max(row, 0)
    if kind in ("inputs", "embedding"):
        return choices | {"followed_stage": 0}
    return choices | ({"followed_stage": layer + 1} if layer >= 0 else {})
