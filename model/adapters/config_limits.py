"""Refuse settings that could exhaust this machine before any weight is read, or at every text.

A config.json says how many layers to build and how long tables of positions are; both are built before a library looks
at the weights. A tokenizer's files may ask for very much of every text. Real models stay far below these bounds.
"""

from base64 import b64decode
from collections.abc import Iterator, Mapping
from math import prod
from pathlib import Path
from typing import Any, Final

from model.checked import Malformed, parsed, without_surrogates
from model.errors import CheckpointError
from model.tokenizer import check_charsmap, check_normalizer

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

    Raises a CheckpointError if one is; the message names it.
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
            message = "config.json says {name} = {number:.6g}; the limit is {most:,}."
            raise CheckpointError(message, name=name[:60], number=number, most=most)


def check_token_ids(settings: Mapping[str, Any], file: str) -> None:
    """Raise a CheckpointError that names a special token's setting that is no whole number, or a list of them."""
    for name, value in settings.items():
        if name.endswith(("_token_id", "_words_ids", "suppress_tokens")) and not _are_ids(value):
            shown = without_surrogates(name[:60])
            message = "{file} says {shown} = {value}, which is not the id of a token."
            raise CheckpointError(message, file=file, shown=shown, value=ascii(value)[:60])


def _are_ids(value: object) -> bool:
    if isinstance(value, list):
        return all(map(_are_ids, value))
    return value is None or (isinstance(value, int) and not isinstance(value, bool))


def check_picture_sizes(sizes: dict[str, Any]) -> None:
    """Raise a CheckpointError if an image processor scales, cuts or pads pictures to no size, or one beyond reason."""
    for name, number in _numbers(sizes, ""):
        most = LARGEST_PICTURE**2 if name.endswith("_pixels") else LARGEST_PICTURE
        if not 1 <= number <= most:
            message = "The image processor's settings say {name} = {number:.6g}; 1 to {most:,} pixels can be read."
            raise CheckpointError(message, name=name[:60], number=number, most=most)


def _numbers(value: Any, name: str) -> Iterator[tuple[str, int | float]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _numbers(inner, without_surrogates(str(key)))
    elif isinstance(value, list):
        for inner in value:
            yield from _numbers(inner, name)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield name, value


#: Characters that may come of one, whatever a text is, and tokens that may be put around it.
MAX_GROWTH: Final = 64
MAX_AROUND: Final = 256
#: Tokens that settings may ask to be made up.
MAX_MADE_UP: Final = 1_000
MAX_PADDING: Final = 65_536
_PARTS: Final = ("normalizer", "pre_tokenizer", "post_processor", "decoder")


def check_files(folder: Path) -> None:
    """Look at tokenizer.json, tokenizer_config.json and the SentencePiece models of a folder, where there are any.

    Raises a Malformed if one asks for too much, or is not a JSON object.
    """
    for name, check in (("tokenizer_config.json", check_settings), ("tokenizer.json", check_pipeline)):
        if (folder / name).is_file():
            check(parsed((folder / name).read_text(encoding="utf-8"), f"{name}: "))
    for path in [*folder.glob("*.spm"), *folder.glob("*.model")]:
        check_normalizer(path.read_bytes())


def check_settings(settings: Mapping[str, Any]) -> None:
    """Raise a Malformed if a tokenizer_config.json asks for millions of made-up tokens."""
    for key, value in settings.items():
        makes_up = key in ("extra_ids", "offset") or key.startswith("num_")
        if makes_up and isinstance(value, int | float) and not 0 <= value <= MAX_MADE_UP:
            message = "{key} is {value:,}; the limit is {most:,}"
            raise Malformed(message, key=key[:60], value=value, most=MAX_MADE_UP)


def check_pipeline(pipeline: Mapping[str, Any]) -> None:
    """Make sure that no step of a tokenizer.json makes very much of a short text. Raises a Malformed if one does."""
    steps = [step for part in _PARTS for step in _steps(pipeline.get(part))]
    growth = prod(max(1, len(_text(step, "content"))) for step in steps if step.get("type") == "Replace")
    if growth > MAX_GROWTH:
        message = "its replacements turn one character into up to {growth:,} characters; the limit is {most}"
        raise Malformed(message, growth=growth, most=MAX_GROWTH)
    for step in steps:
        if step.get("type") == "Precompiled":
            _check_precompiled(_text(step, "precompiled_charsmap"))
    prepended = sum(len(_text(step, "prepend")) for step in steps)
    around = prepended + sum(_tokens_around(step) for step in steps)
    if around > MAX_AROUND:
        raise Malformed("it adds {around:,} tokens to every text; the limit is {most}", around=around, most=MAX_AROUND)
    padding = pipeline.get("padding")
    if isinstance(padding, dict):
        strategy = padding.get("strategy")
        asked = [padding.get("pad_to_multiple_of"), strategy.get("Fixed") if isinstance(strategy, dict) else None]
        if any(isinstance(number, int) and number > MAX_PADDING for number in asked):
            raise Malformed("it pads every text to more than {most:,} tokens", most=MAX_PADDING)


def _steps(value: object) -> Iterator[Mapping[str, Any]]:
    """Every object within a part of the pipeline, sequences of steps included."""
    if isinstance(value, dict):
        yield value
        for inner in value.values():
            yield from _steps(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _steps(inner)


def _text(step: Mapping[str, Any], name: str) -> str:
    value = step.get(name)
    return value if isinstance(value, str) else ""


def _check_precompiled(encoded: str) -> None:
    try:
        table = b64decode(encoded, validate=True)
    except ValueError as error:
        raise Malformed("its normalizer is damaged") from error
    check_charsmap(table)


def _tokens_around(step: Mapping[str, Any]) -> int:
    """How many tokens a template puts around one text, or around two."""
    if step.get("type") != "TemplateProcessing":
        return 0
    special = step.get("special_tokens")
    lengths = {
        name: len(token["ids"])
        for name, token in (special.items() if isinstance(special, dict) else ())
        if isinstance(token, dict) and isinstance(token.get("ids"), list)
    }
    pieces = [piece for form in ("single", "pair") for piece in _pieces(step.get(form))]
    return len(pieces) + sum(lengths.get(name, 0) for name in pieces)


def _pieces(template: object) -> Iterator[str]:
    for piece in template if isinstance(template, list) else ():
        special = piece.get("SpecialToken") if isinstance(piece, dict) else None
        yield str(special.get("id", "")) if isinstance(special, dict) else ""
