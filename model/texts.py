"""What is said of a text that a model cannot read, whichever model it is."""

from model.errors import InputTextError


def check_not_blank(text: str, what: str) -> None:
    """Make sure that there is something to read; `what` is what an error calls it.

    Raises:
        InputTextError: there is not.
    """
    if not text.strip():
        raise InputTextError(f"{what} is empty. Type a sentence, for example “The cat sleeps.”")


def too_long(text: str, what: str, limit: int, count: int | None, why: str = "") -> InputTextError:
    """The error for a text of more than `limit` tokens.

    Args:
        text: what was given.
        what: what the error calls it.
        limit: the most tokens that the model reads.
        count: how many there are; None if they are too many to be counted.
        why: what sets the limit, as the rest of a clause.
    """
    length = "far more" if count is None else f"{count:,}"
    return InputTextError(
        f"{what} is too long: this model reads at most {limit:,} tokens{why}; the text has {length} "
        f"({len(text):,} characters). Shorten it, or enter it in parts."
    )


def nothing_seen(what: str) -> InputTextError:
    """The error for a text that no token of a word or sign stands for."""
    return InputTextError(f"{what} holds only characters that cannot be seen. Type a sentence.")
