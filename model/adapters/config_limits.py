"""Refuse numbers of a config.json that could exhaust this machine before any weight is read.

A configuration says how many layers to build and how long tables of positions are; both are built before a library
looks at the weights. Real models stay far below these bounds.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from model.errors import CheckpointError

MOST_LAYERS: Final = 1_000
MOST_GROUPS: Final = 32
"""ALBERT has groups of layers, each of inner ones: as many of both make about as many layers as there may be."""
LONGEST_TABLE: Final = 32_768
"""Positions that a learned or sinusoidal table may hold."""
LARGEST_PICTURE: Final = 4_096
"""Pixels to a side that a picture may be scaled to."""
LONGEST: Final = 1 << 24
LARGEST: Final = 10**9
_POSITIONS: Final = frozenset(
    {"max_position_embeddings", "n_positions", "n_ctx", "max_seq_len", "max_source_positions", "max_target_positions"}
)

_GROUPS: Final = frozenset({"num_hidden_groups", "inner_group_num"})


def check_values(config: dict[str, Any], *, has_table: bool) -> None:
    """Make sure that no number in config.json is beyond reason; of a model with a table of positions, fewer of them.

    Raises:
        CheckpointError: one is; the message names it.
    """
    for name, number in _numbers(config, ""):
        most = LARGEST
        if name in _GROUPS:
            most = MOST_GROUPS
        elif ("layer" in name and "rope" not in name) or name == "attention_types":
            most = MOST_LAYERS
        elif name in _POSITIONS:
            most = LONGEST_TABLE if has_table else LONGEST
        if not -LARGEST <= number <= most:
            raise CheckpointError(
                "config.json says {name} = {number:.6g}; at most {most:,} can be read.",
                name=name[:60],
                number=number,
                most=most,
            )


def check_token_ids(settings: Mapping[str, Any], file: str) -> None:
    """Make sure that what settings say of special tokens are ids: whole numbers, or lists of them.

    Raises:
        CheckpointError: one is something else; the message names it.
    """
    for name, value in settings.items():
        if name.endswith(("_token_id", "_words_ids", "suppress_tokens")) and not _are_ids(value):
            shown = name[:60].encode("utf-8", errors="replace").decode()
            raise CheckpointError(
                "{file} says {shown} = {value}, which is no id of a token.",
                file=file,
                shown=shown,
                value=ascii(value)[:60],
            )


def _are_ids(value: object) -> bool:
    if isinstance(value, list):
        return all(map(_are_ids, value))
    return value is None or (isinstance(value, int) and not isinstance(value, bool))


def check_picture_sizes(sizes: dict[str, Any]) -> None:
    """Make sure that an image processor does not scale, cut or fill up pictures to sizes beyond reason.

    Raises:
        CheckpointError: one is too large, or no size.
    """
    for name, number in _numbers(sizes, ""):
        most = LARGEST_PICTURE**2 if name.endswith("_pixels") else LARGEST_PICTURE
        if not 1 <= number <= most:
            raise CheckpointError(
                "The image processor's settings say {name} = {number:.6g}; 1 to {most:,} pixels can be read.",
                name=name[:60],
                number=number,
                most=most,
            )


def _numbers(value: Any, name: str) -> Iterator[tuple[str, int | float]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _numbers(inner, str(key).encode("utf-8", errors="replace").decode())
    elif isinstance(value, list):
        for inner in value:
            yield from _numbers(inner, name)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield name, value
