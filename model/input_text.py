"""Check that a model can read a text: not blank, not too long, not only invisible characters."""

from collections.abc import Callable

from model.errors import InputTextError, said


def check_not_blank(text: str, what: str) -> None:
    """Raise an InputTextError, which calls the text `what`, if it is blank."""
    if not text.strip():
        raise InputTextError("{what} is empty. Type a sentence, for example “The cat sleeps.”", what=what)


def too_long(text: str, what: str, limit: int, count: int | None, why: str = "") -> InputTextError:
    """The error for a text of more than `limit` tokens, which calls it `what`; `why` is a sentence about the limit.

    `count` is its number of tokens; None if they are too many to be counted.
    """
    length = said("far more") if count is None else f"{count:,}"
    message = (
        "{what} is too long: this model reads at most {limit:,} tokens; the text has {length} ({num_text:,} "
        "characters). Shorten it or enter it in parts."
    )
    numbers = {"what": what, "limit": limit, "length": length, "num_text": len(text)}
    if not why:
        return InputTextError(message, **numbers)
    return InputTextError("{too_long} {why}", too_long=said(message, **numbers), why=why)


def nothing_seen(what: str) -> InputTextError:
    """The error for a text without visible characters."""
    return InputTextError("{what} contains only invisible characters. Type a sentence.", what=what)


def checked_ids(text: str, what: str, limit: int, encode: Callable[[str], list[int]]) -> list[int]:
    """Token ids of a text, 1 to `limit`, `what` in errors. Raises an InputTextError if it is blank or too long."""
    check_not_blank(text, what)
    # A piece has at most 16 characters, so far longer texts need not be tokenized to be refused.
    token_ids = encode(text) if len(text) <= 100 * limit else None
    if token_ids is None or len(token_ids) > limit:
        raise too_long(text, what, limit, None if token_ids is None else len(token_ids))
    if not token_ids:
        raise nothing_seen(what)
    return token_ids
