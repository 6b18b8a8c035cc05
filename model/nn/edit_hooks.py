"""Turn edits of heads into functions at the model's hook points, checked against model and sentence before a run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from jaxtyping import Float
from torch import Tensor

from model.errors import EditError, said
from model.nn.edits import HeadEdit, PointAt, SwitchOff, edit_scores, edits_before, edits_from
from model.nn.encoder_decoder import SITES, EncoderDecoder, site_path
from model.nn.hooks import Edit, first_row

Edits = Mapping[str, Edit] | Sequence[HeadEdit]
"""Edits of heads, or full hook name → function that replaces the value at that point."""


@dataclass(frozen=True)
class EditScores:
    """The function at a site's `hook_scores`: named edits of its weights; that site takes the explicit path."""

    edits: tuple[HeadEdit, ...]

    def __call__(self, scores: Float[Tensor, "batch head query key"]) -> Float[Tensor, "batch head query key"]:
        """Edit the rows that the model computes in this call."""
        rows = range(first_row(), first_row() + scores.size(-2))
        return edit_scores(scores, self.edits, range(scores.size(1)), rows)


@dataclass(frozen=True)
class SilenceHeads:
    """The function at a site's `hook_head_output`: heads switched off, on the fused path."""

    edits: tuple[SwitchOff, ...]

    def __call__(self, output: Float[Tensor, "batch head query d_v"]) -> Float[Tensor, "batch head query d_v"]:
        """Silence the rows that the model computes in this call."""
        silenced = output.clone()
        for edit in self.edits:
            rows = [row for row in range(output.size(-2)) if edit.covers(first_row() + row)]
            silenced[:, edit.head, rows] = 0.0
        return silenced


@dataclass(frozen=True)
class FromRow:
    """One function for the rows before a row, another from it on, where the decoder runs row by row."""

    row: int  #: the first one for `after`
    #: before, after: None leaves the value as it is.
    before: Edit | None
    after: Edit | None

    def __call__(self, value: Any) -> Any:
        """Apply the function for the row that the model computes in this call."""
        edit = self.before if first_row() < self.row else self.after
        return value if edit is None else edit(value)

    @property
    def named(self) -> tuple[HeadEdit, ...]:
        """The named edits of both, each for the rows on which it acts."""
        later = [edit for edit in _named(self.after) if edit.row is None or edit.row >= self.row]
        return (*edits_before(_named(self.before), self.row), *edits_from(later, self.row))


def edit_functions(
    edits: Edits | None, model: EncoderDecoder, *, num_source: int, num_target: int
) -> Mapping[str, Edit]:
    """Full hook name → function, from edits of either form.

    Raises:
        EditError: a named edit speaks of what does not exist, or of a key that the mask forbids.
        ValueError: there is no such hook point.
    """
    if not isinstance(edits, Mapping):
        return compile_edits(edits or (), model.config.shapes, num_source=num_source, num_target=num_target)
    model.check_edits(edits)
    return edits


def change_edits(before: Mapping[str, Edit], after: Mapping[str, Edit], row: int) -> dict[str, Edit]:
    """Full hook name → function for a decoder that runs row by row under `before`, and from `row` on under `after`.

    The encoder has run before the first row, so what acted on it stays.
    """
    changed = {name: edit for name, edit in before.items() if name.startswith("encoder.")}
    for name in dict.fromkeys((*before, *after)):
        if name not in changed:
            changed[name] = FromRow(row, before.get(name), after.get(name))
    return changed


def compile_edits(
    edits: Sequence[HeadEdit], shapes: Mapping[str, tuple[int, int]], *, num_source: int, num_target: int
) -> dict[str, Edit]:
    """Full hook name → function, right in one teacher-forced pass and step by step alike.

    Of two edits that change the same row of a head the later counts, and SwitchOff before all. Raises an EditError if a
    site, layer, head, row or key does not exist, or the mask forbids the key.

    Args:
        shapes: site → its layers and heads.
        num_source, num_target: the rows that encoder and decoder can have.
    """
    compiled: dict[str, Edit] = {}
    for edit in edits:
        if edit.site not in shapes:
            raise EditError("There is no attention {site!r}, only {sites}.", site=edit.site, sites=", ".join(shapes))
        check_edit(edit, *shapes[edit.site], num_source=num_source, num_target=num_target)
    for site, layer in dict.fromkeys((edit.site, edit.layer) for edit in edits):
        here = [edit for edit in edits if (edit.site, edit.layer) == (site, layer)]
        if changed := tuple(edit for edit in here if not isinstance(edit, SwitchOff)):
            compiled[f"{site_path(site, layer)}.hook_scores"] = EditScores(changed)
        if off := tuple(edit for edit in here if isinstance(edit, SwitchOff)):
            compiled[f"{site_path(site, layer)}.hook_head_output"] = SilenceHeads(off)
    return compiled


def named_edits(edits: Mapping[str, Edit], path: str) -> tuple[HeadEdit, ...]:
    """The named edits among the functions at an attention site, as `AttentionInputs` takes them: SwitchOff last."""
    at_site = (edits.get(f"{path}.{hook}") for hook in ("hook_scores", "hook_head_output"))
    return tuple(edit for function in at_site for edit in _named(function))


def is_named(function: Edit | None) -> bool:
    """Whether a function at a hook point does what named edits say, and nothing else."""
    if isinstance(function, FromRow):
        return is_named(function.before) and is_named(function.after)
    return function is None or isinstance(function, EditScores | SilenceHeads)


def _named(function: Edit | None) -> tuple[HeadEdit, ...]:
    if isinstance(function, FromRow):
        return function.named
    return function.edits if isinstance(function, EditScores | SilenceHeads) else ()


def check_edit(edit: HeadEdit, num_layers: int, num_heads: int, *, num_source: int, num_target: int) -> None:
    """Check an edit against layers and heads of its site, and the rows of encoder and decoder.

    Raises an EditError if a site, layer, head, row or key does not exist, or the mask forbids the key.
    """
    if edit.site not in SITES:
        raise EditError("There is no attention {site!r}, only {sites}.", site=edit.site, sites=", ".join(SITES))
    num_rows = num_source if edit.site == "encoder.self" else num_target
    limits = (
        (said("Layers"), edit.layer, num_layers),
        (said("Heads"), edit.head, num_heads),
        (said("Rows"), edit.first_row, num_rows),
    )
    for what, index, count in limits:
        if not 0 <= index < count:
            message = "{what} of {site} run from 0 to {count}, got {index}."
            raise EditError(message, what=what, site=edit.site, count=count - 1, index=index)
    if isinstance(edit, PointAt):
        _check_key(edit, num_target if edit.site == "decoder.self" else num_source)


def _check_key(edit: PointAt, num_keys: int) -> None:
    if not 0 <= edit.key < num_keys:
        raise EditError(
            "Keys of {site} run from 0 to {num_keys}, got {key}.", site=edit.site, num_keys=num_keys - 1, key=edit.key
        )
    # The causal mask: row i sees keys up to itself (§3.2.3).
    if edit.site == "decoder.self" and edit.key > edit.first_row:
        message = (
            "Row {first_row} of decoder.self may attend to keys up to {first_row}, not to key {key}, which comes "
            "later. Choose an earlier key, or a row (row=, since=) from {key} on."
        )
        raise EditError(message, first_row=edit.first_row, key=edit.key)
