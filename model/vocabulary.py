"""What tells tokens by their ids and ids by their tokens, whichever tokenizer a model has."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable


@runtime_checkable
class Vocabulary(Protocol):
    """Tokens and their ids: of our own tokenizer, or of another model's."""

    def tokens(self, token_ids: Sequence[int]) -> tuple[str, ...]:
        """The tokens of ids."""

    def token_id(self, token: str) -> int:
        """The id of a token. Raises a TokenError if there is none that is spelled so."""

    def decode(self, token_ids: Sequence[int]) -> str:
        """The text of token ids; special tokens leave no trace."""
