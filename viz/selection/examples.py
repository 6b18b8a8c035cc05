"""Example sentences, each with what to look for in it and a twin that differs in a word or two.

In the first pair, the classic of the field, the last word decides what "it" refers to.
"""

from dataclasses import dataclass
from typing import Final

from viz.core.marks import Marks, word_spans


@dataclass(frozen=True, slots=True)
class Example:
    """A sentence, its twin for the comparison, and what to look for.

    Attributes:
        stands_for: the nouns that "it" stands for in the sentence and in its twin, where it is one of two.
    """

    text: str
    twin: str
    look_for: str
    stands_for: tuple[str, str] | None = None


EXAMPLES: Final[tuple[Example, ...]] = (
    Example(
        "The animal didn't cross the street because it was too tired.",
        "The animal didn't cross the street because it was too wide.",
        "“it” is the animal or the street, and German has to choose, es or sie: where does cross-attention look when "
        "the pronoun is written?",
        ("animal", "street"),
    ),
    Example(
        "The horse refused to cross the bridge because it was too narrow.",
        "The horse refused to cross the bridge because it was too tired.",
        "The same question with a horse and a bridge: does the same head find what “it” stands for?",
        ("bridge", "horse"),
    ),
    Example(
        "The dog chased the cat because it was hungry.",
        "The dog chased the cat because it was fast.",
        "A dog is masculine in German and a cat feminine: which of the two is read when the pronoun is written?",
        ("dog", "cat"),
    ),
    Example(
        "If it rains tomorrow, we will stay at home.",
        "If it snows tomorrow, we will stay at home.",
        "Here “it” stands for nothing: where do the heads look that otherwise follow pronouns?",
    ),
    Example(
        "The book that I bought yesterday is on the table.",
        "The books that I bought yesterday are on the table.",
        "German puts the verb last in the clause: cross-attention has to jump back to “bought”.",
    ),
    Example(
        "I have never seen such a beautiful city.",
        "I will never forget such a beautiful city.",
        "“seen” stands before the city in English and after it in German: the diagonal of cross-attention breaks.",
    ),
    Example(
        "Turn the light on when you come in.",
        "Turn the light off when you come in.",
        "“Turn … on” is one verb in two parts: which heads join them?",
    ),
    Example(
        "She put the glass on the table and looked out of the window.",
        "He put the glass on the table and looked out of the window.",
        "Two verbs share a subject: do heads lead from “looked” back to “She”?",
    ),
    Example(
        "The trophy doesn't fit into the suitcase because it is too big.",
        "The trophy doesn't fit into the suitcase because it is too small.",
        "Trophy and suitcase are both masculine in German, so the pronoun does not tell them apart: do the heads?",
        ("trophy", "suitcase"),
    ),
    Example(
        "The woman lost her key, but she found it in the garden.",
        "The woman lost her bag, but she found it in the garden.",
        "Two pronouns and two nouns: which heads lead from “she” to the woman, and which from “it” to the key?",
    ),
)

#: Sentences of other lengths, one a line: a batch of any example and these needs padding.
BATCH_SENTENCES: Final = "Thank you very much.\nI have never seen such a beautiful city.\nYes."


def known_marks(text: str) -> Marks | None:
    """The words to be marked in an example or its twin, where "it" stands for one of two nouns."""
    words = [text[slice(*span)] for span in word_spans(text)]
    for example in EXAMPLES:
        if example.stands_for is not None and text in (example.text, example.twin):
            nouns = example.stands_for if text == example.text else example.stands_for[::-1]
            return Marks(words.index("it"), *map(words.index, nouns))
    return None
