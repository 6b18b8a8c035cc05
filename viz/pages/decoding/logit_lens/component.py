"""What each layer would have said at each step, as a table of tokens coloured by their probability.

Sends tokens and probabilities to `lens_table.js` and reads back which step a person chose.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from viz.components.declare import declare
from viz.core import fingerprint, payload, theme, token_text
from viz.core.messages import _
from viz.core.widget_values import sent

if TYPE_CHECKING:
    from model.decoding.logit_lens import LogitLens

_COMPONENT = declare("pages/decoding/logit_lens/lens_table.js", "pages/decoding/logit_lens/lens_table.css")
#: A probability is shown with three digits at most.
_DIGITS: Final = 6


def level_names(count: int) -> list[str]:
    """What the levels of a lens are called; the last of them is the model's own output."""
    between = (_("Layer {number}", number=level) for level in range(1, count - 1))
    return [_("Input"), *between, _("Layer {number} = output", number=count - 1)]


def pack_lens(lens: "LogitLens", read: Sequence[str], *, step: int, name: str) -> bytes:
    """The payload of `lens_table.js`: `read` goes in at each step, `step` is chosen, `name` is that of saved files."""
    content: dict[str, object] = {
        "levels": level_names(len(lens.tokens)),
        "read": token_text.display_tokens(read),
        "written": token_text.display_tokens(lens.chosen_tokens),
        "cells": [_level(lens, level) for level in range(len(lens.tokens))],
    }
    scale = {"stops": theme.SEQUENTIAL, "dark": theme.NIGHT, "pale": theme.LIGHT}
    header = {**content, "scale": scale, "name": name, "digest": fingerprint.digest(repr(content)), "step": step}
    return payload.pack(header)


def _level(lens: "LogitLens", level: int) -> list[dict[str, object]]:
    rows = zip(
        lens.tokens[level],
        lens.probabilities[level].tolist(),
        lens.token_ids[level, :, 0].tolist(),
        lens.chosen_ids,
        lens.chosen_probabilities[level].tolist(),
        lens.chosen_ranks[level].tolist(),
        strict=True,
    )
    return [
        {
            "tokens": token_text.display_tokens(tokens),
            "probabilities": [round(probability, _DIGITS) for probability in probabilities],
            "asWritten": best == written,
            "chosen": round(chosen, _DIGITS),
            "rank": rank,
        }
        for tokens, probabilities, best, written, chosen, rank in rows
    ]


def read_step(value: object, steps: int) -> int | None:
    """The step that the browser sent, if there is one: it may still speak of the sentence before."""
    step = value.get("step") if isinstance(value, Mapping) else None
    return step if type(step) is int and 0 <= step < steps else None


def lens_table(
    lens: "LogitLens", read: Sequence[str], *, step: int, on_choose: Callable[[int], None], key: str, name: str
) -> None:
    """Show the table; `on_choose` is called before the next run with the step that a person chose."""

    def take() -> None:
        chosen = read_step(sent(key, "step"), len(read))
        if chosen is not None:
            on_choose(chosen)

    _COMPONENT(data=pack_lens(lens, read, step=step, name=name), key=key, on_step_change=take)
