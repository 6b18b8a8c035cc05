"""Check named edits of heads against a Hugging Face model, and sort them by site and layer."""

from collections.abc import Mapping

from model.abilities import Abilities
from model.errors import EditError
from model.nn.edit_hooks import Edits, check_edit
from model.nn.edits import HeadEdit, SwitchOff
from model.word_choice import SiteAndLayer


def named_only(edits: Edits | None) -> tuple[HeadEdit, ...]:
    """The same edits, as many as there are.

    Raises:
        EditError: one is a function.
    """
    if isinstance(edits, Mapping):
        if edits:
            raise EditError("Heads of this model are edited by name: SwitchOff, MakeUniform or PointAt.")
        return ()
    return tuple(edits or ())


def edits_by_site(
    edits: Edits | None, abilities: Abilities, *, num_source: int, num_target: int
) -> Mapping[SiteAndLayer, tuple[HeadEdit, ...]]:
    """(site, layer) → what is done to its heads, SwitchOff last: what is off is off, whatever else was done to it.

    `num_source` and `num_target` are rows of the encoder and of the decoder, as many as there can be.

    Raises:
        EditError: an edit is a function, or names what does not exist, or the model's heads cannot be edited.
    """
    named = named_only(edits)
    if not named:
        return {}
    if "edits" in abilities.lacks:
        raise EditError(abilities.lacks["edits"])
    sorted_edits: dict[SiteAndLayer, tuple[HeadEdit, ...]] = {}
    for edit in sorted(named, key=lambda named_edit: isinstance(named_edit, SwitchOff)):
        if edit.site not in abilities.heads:
            raise EditError(
                "There is no site {site!r}; sites are {sites}.", site=edit.site, sites=", ".join(abilities.sites)
            )
        check_edit(edit, *abilities.shapes[edit.site], num_source=num_source, num_target=num_target)
        sorted_edits[edit.site, edit.layer] = (*sorted_edits.get((edit.site, edit.layer), ()), edit)
    return sorted_edits
