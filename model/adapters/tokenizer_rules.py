"""Refuse a tokenizer whose files ask for very much of every text, which no honest tokenizer does."""

from base64 import b64decode
from collections.abc import Iterator, Mapping
from math import prod
from pathlib import Path
from typing import Any, Final

from model.checked import Malformed, parsed
from model.sentencepiece_limits import check_charsmap, check_normalizer

#: Characters that may come of one, whatever a text is, and tokens that may be put around it.
MAX_GROWTH: Final = 64
MAX_AROUND: Final = 256
#: Tokens that settings may ask to be made up.
MAX_MADE_UP: Final = 1_000
MAX_PADDING: Final = 65_536
_PARTS: Final = ("normalizer", "pre_tokenizer", "post_processor", "decoder")


def check_files(folder: Path) -> None:
    """Look at tokenizer.json, tokenizer_config.json and the SentencePiece models of a folder, where there are any.

    Raises:
        Malformed: one asks for too much, or is no JSON object.
    """
    for name, check in (("tokenizer_config.json", check_settings), ("tokenizer.json", check_pipeline)):
        if (folder / name).is_file():
            check(parsed((folder / name).read_text(encoding="utf-8"), f"{name}: "))
    for path in [*folder.glob("*.spm"), *folder.glob("*.model")]:
        check_normalizer(path.read_bytes())


def check_settings(settings: Mapping[str, Any]) -> None:
    """Make sure that a tokenizer_config.json does not ask for millions of made-up tokens.

    Raises:
        Malformed: it does.
    """
    for key, value in settings.items():
        makes_up = key in ("extra_ids", "offset") or key.startswith("num_")
        if makes_up and isinstance(value, int | float) and not 0 <= value <= MAX_MADE_UP:
            raise Malformed(
                "{key} is {value:,}; at most {most:,} can be read", key=key[:60], value=value, most=MAX_MADE_UP
            )


def check_pipeline(pipeline: Mapping[str, Any]) -> None:
    """Make sure that no step of a tokenizer.json makes very much of a short text.

    Raises:
        Malformed: one does.
    """
    steps = [step for part in _PARTS for step in _steps(pipeline.get(part))]
    growth = prod(max(1, len(_text(step, "content"))) for step in steps if step.get("type") == "Replace")
    if growth > MAX_GROWTH:
        raise Malformed(
            "its replacements make up to {growth:,} characters of one; at most {most} can be read",
            growth=growth,
            most=MAX_GROWTH,
        )
    for step in steps:
        if step.get("type") == "Precompiled":
            _check_precompiled(_text(step, "precompiled_charsmap"))
    prepended = sum(len(_text(step, "prepend")) for step in steps)
    around = prepended + sum(_tokens_around(step) for step in steps)
    if around > MAX_AROUND:
        raise Malformed(
            "it puts {around:,} tokens around every text; at most {most} can be read", around=around, most=MAX_AROUND
        )
    padding = pipeline.get("padding")
    if isinstance(padding, dict):
        strategy = padding.get("strategy")
        asked = [padding.get("pad_to_multiple_of"), strategy.get("Fixed") if isinstance(strategy, dict) else None]
        if any(isinstance(number, int) and number > MAX_PADDING for number in asked):
            raise Malformed("it fills every text up to more than {most:,} tokens", most=MAX_PADDING)


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
