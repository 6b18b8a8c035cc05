"""What can be taken out of a model while it runs: positions, scaling, residual connections, norms, heads."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, get_args

from model.errors import EditError, said
from model.nn.edit_hooks import compile_edits
from model.nn.edits import SwitchOff
from model.nn.hooks import Edit

Part = Literal["positions", "scaling", "residuals", "norms", "heads"]
PARTS: Final[tuple[Part, ...]] = get_args(Part)
NOT_SCALED: Final = said("This model was trained without scaling its scores, so scaling cannot be removed.")


@dataclass(frozen=True)
class PartOff:
    """What is taken out."""

    part: Part  #: "heads" is all heads but one of each attention
    #: the only layer, counted from 0, in which it is taken out; None for all. Positions have no layer.
    layer: int | None = None
    kept_head: int = 0  #: the head that is left where the others are taken out


def places_of(off: PartOff, heads: Mapping[str, Sequence[int]]) -> list[tuple[str, int]]:
    """The attentions, as (site, layer), in whose layers a part is taken out; `heads`: as of `Abilities`.

    Raises an EditError if there is no such layer.
    """
    places = [(site, layer) for site in heads for layer in range(len(heads[site])) if off.layer in (None, layer)]
    if not places:
        message = "This model has no layer {layer}: layers are numbered from 0 to {last}."
        raise EditError(message, layer=off.layer, last=max(map(len, heads.values())) - 1)
    return places


def heads_off(off: PartOff, heads: Mapping[str, Sequence[int]]) -> dict[str, Edit]:
    """Full hook name → what switches off all heads but the one that is kept. Raises as `places_of`."""
    places = places_of(off, heads)
    fewest = min(heads[site][layer] for site, layer in places)
    if fewest < 2:
        raise EditError("At least one attention in this model has only one head, so there are no others to switch off.")
    if off.kept_head >= fewest:
        message = "At least one attention in this model has only {heads} heads, so head {kept} cannot be kept alone."
        raise EditError(message, heads=fewest, kept=off.kept_head + 1)
    edits = [
        SwitchOff(site, layer, head)
        for site, layer in places
        for head in range(heads[site][layer])
        if head != off.kept_head
    ]
    shapes = {site: (len(of_site), max(of_site)) for site, of_site in heads.items()}
    return compile_edits(edits, shapes, num_source=1, num_target=1)
