"""Example sentences, each with a twin that differs in a word or two.

In the first pair, the classic of the field, the last word decides what "it" refers to.
"""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Example:
    """A sentence, and its twin for the comparison."""

    text: str
    twin: str


EXAMPLES: Final[tuple[Example, ...]] = (
    Example(
        "The animal didn't cross the street because it was too tired.",
        "The animal didn't cross the street because it was too wide.",
    ),
    Example(
        "The trophy doesn't fit into the suitcase because it is too big.",
        "The trophy doesn't fit into the suitcase because it is too small.",
    ),
    Example(
        "The dog chased the cat because it was hungry.",
        "The dog chased the cat because it was fast.",
    ),
    Example(
        "A man is riding a bicycle down the street.",
        "A woman is riding a horse down the street.",
    ),
    Example(
        "I have never seen such a beautiful city.",
        "I will never forget such a beautiful city.",
    ),
    Example(
        "She put the glass on the table and looked out of the window.",
        "He put the glass on the table and looked out of the window.",
    ),
)

#: Sentences of other lengths, one a line: a batch of any example and these needs padding.
BATCH_SENTENCES: Final = "Thank you very much.\nI have never seen such a beautiful city.\nYes."
