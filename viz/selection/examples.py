"""Example sentences, each with what to look for in it and a twin that differs in a word or two.

In the first pair, the classic of the field, the last word decides what "it" refers to.
"""

from dataclasses import dataclass
from typing import Final

from viz.text.marks import Marks, word_spans
from viz.text.messages import said


@dataclass(frozen=True, slots=True)
class Example:
    """A sentence, its twin for the comparison, and what to look for.

    Attributes:
        only_in_german: whether only a translation into German shows what to look for.
        stands_for: the nouns that the pronoun stands for in the sentence and in its twin, where it is one of two.
        pronouns: the pronoun of the sentence and that of its twin.
    """

    text: str
    twin: str
    look_for: str
    only_in_german: bool = False
    stands_for: tuple[str, str] | None = None
    pronouns: tuple[str, str] = ("it", "it")


EXAMPLES: Final[tuple[Example, ...]] = (
    Example(
        "The animal didn't cross the street because it was too tired.",
        "The animal didn't cross the street because it was too wide.",
        said(
            "“it” is the animal or the street, and German has to choose, es or sie: what does cross-attention attend "
            "to when the pronoun is written?"
        ),
        only_in_german=True,
        stands_for=("animal", "street"),
    ),
    Example(
        "The horse refused to cross the bridge because it was too narrow.",
        "The horse refused to cross the bridge because it was too tired.",
        said("The same question with a horse and a bridge: does the same head find what “it” refers to?"),
        stands_for=("bridge", "horse"),
    ),
    Example(
        "The dog chased the cat because it was hungry.",
        "The dog chased the cat because it was fast.",
        said(
            "Dog is masculine in German and cat feminine: which of the two is attended to when the pronoun is written?"
        ),
        only_in_german=True,
        stands_for=("dog", "cat"),
    ),
    Example(
        "If it rains tomorrow, we will stay at home.",
        "If it snows tomorrow, we will stay at home.",
        said("Here “it” refers to nothing: what do the heads that usually follow pronouns attend to?"),
    ),
    Example(
        "The book that I bought yesterday is on the table.",
        "The books that I bought yesterday are on the table.",
        said("German puts the verb at the end of the clause: cross-attention has to jump back to “bought”."),
        only_in_german=True,
    ),
    Example(
        "I have never seen such a beautiful city.",
        "I will never forget such a beautiful city.",
        said("“seen” comes before the city in English and after it in German: the diagonal of cross-attention breaks."),
        only_in_german=True,
    ),
    Example(
        "Turn the light on when you come in.",
        "Turn the light off when you come in.",
        said("“Turn … on” is one verb in two parts: which heads join them?"),
    ),
    Example(
        "She put the glass on the table and looked out of the window.",
        "He put the glass on the table and looked out of the window.",
        said("Two verbs share a subject: do heads lead from “looked” back to “She”?"),
    ),
    Example(
        "The trophy doesn't fit into the suitcase because it is too big.",
        "The trophy doesn't fit into the suitcase because it is too small.",
        said(
            "Trophy and suitcase are both masculine in German, so the pronoun does not tell them apart: do the heads?"
        ),
        only_in_german=True,
        stands_for=("trophy", "suitcase"),
    ),
    Example(
        "The woman lost her key, but she found it in the garden.",
        "The woman lost her bag, but she found it in the garden.",
        said("Two pronouns and two nouns: which heads lead from “she” to the woman, and which from “it” to the key?"),
    ),
)

_GERMAN: Final = (
    Example(
        "Das Tier überquerte die Straße nicht, weil es zu müde war.",
        "Das Tier überquerte die Straße nicht, weil sie zu breit war.",
        said(
            "In German the gender of “es” and “sie” already tells whether the animal or the street is meant: which "
            "heads follow it?"
        ),
        stands_for=("Tier", "Straße"),
        pronouns=("es", "sie"),
    ),
    Example(
        "Der Pokal passt nicht in den Koffer, weil er zu groß ist.",
        "Der Pokal passt nicht in den Koffer, weil er zu klein ist.",
        said("Both nouns are masculine, so only the last word tells which of them “er” is."),
        stands_for=("Pokal", "Koffer"),
        pronouns=("er", "er"),
    ),
    Example(
        "Sie hat ihren Schlüssel verloren, aber er lag im Garten.",
        "Sie hat ihre Tasche verloren, aber sie lag im Garten.",
        said("Which heads lead from the second pronoun back to what was lost?"),
    ),
    Example(
        "Wenn es morgen regnet, bleiben wir zu Hause.",
        "Wenn es morgen schneit, bleiben wir zu Hause.",
        said("Here “es” refers to nothing: what do the heads that usually follow pronouns attend to?"),
    ),
    Example(
        "Mach bitte das Licht an, wenn du hereinkommst.",
        "Mach bitte das Licht aus, wenn du hereinkommst.",
        said("“Mach … an” is one verb in two parts: which heads join them?"),
    ),
    Example(
        "Das Buch, das ich gestern gekauft habe, liegt auf dem Tisch.",
        "Die Bücher, die ich gestern gekauft habe, liegen auf dem Tisch.",
        said("The verb of the clause comes last: which heads lead from it back to the book?"),
    ),
)
_CHINESE: Final = (
    Example(
        "那只动物没有过马路，因为它太累了。",
        "那只动物没有过马路，因为它太宽了。",
        said("“它” is the animal or the road, and only the last words tell which: which heads follow?"),
        stands_for=("动物", "马路"),
        pronouns=("它", "它"),
    ),
    Example(
        "奖杯放不进箱子，因为它太大了。",
        "奖杯放不进箱子，因为它太小了。",
        said("The trophy is too big, or the box too small: do the heads of “它” distinguish them?"),
        stands_for=("奖杯", "箱子"),
        pronouns=("它", "它"),
    ),
    Example(
        "如果明天下雨，我们就待在家里。",
        "如果明天下雪，我们就待在家里。",
        said("“如果 … 就” is one conjunction in two parts: which heads join them?"),
    ),
    Example(
        "他昨天买的书在桌子上。",
        "她昨天买的书在桌子上。",
        said(
            "The modifying clause precedes its noun in Chinese and follows it in English: cross-attention has to jump."
        ),
    ),
    Example(
        "我从来没有见过这么美的城市。",
        "我永远不会忘记这么美的城市。",
        said("Which tokens of “从来没有” does the word for “never” come from?"),
    ),
    Example(
        "请把灯打开，然后把门关上。",
        "请把灯关上，然后把门打开。",
        said("“把” puts the object before its verb: which heads lead from the verb back to it?"),
    ),
)
#: For models that read chats.
CHAT_EXAMPLE: Final = Example(
    "system: Answer in one word.\n"
    "user: The dog chased the cat because it was hungry. Who was hungry?\n"
    "assistant: The dog.\n"
    "user: And who was chased?",
    "system: Answer in one word.\n"
    "user: The dog chased the cat because it was fast. Who was fast?\n"
    "assistant: The cat.\n"
    "user: And who was chased?",
    said(
        "Three roles and the template's own tokens: which heads attend to the template, which stay within a message, "
        "and which lead from the last question back to the first?"
    ),
)
#: Language → examples in it.
_OF_LANGUAGE: Final = {"en": EXAMPLES, "de": _GERMAN, "zh": _CHINESE}
ALL_EXAMPLES: Final = (*EXAMPLES, *_GERMAN, *_CHINESE, CHAT_EXAMPLE)


def examples_in(language: str) -> tuple[Example, ...]:
    """The examples in a language; those in English where it is not known, none in one that we write no examples in."""
    return _OF_LANGUAGE.get(language.partition("-")[0] or "en", ())


#: Sentences of other lengths, one a line: a batch of any example and these needs padding.
BATCH_SENTENCES: Final = "Thank you very much.\nI have never seen such a beautiful city.\nYes."


def known_marks(text: str) -> Marks | None:
    """The words to be marked in an example or its twin, where its pronoun stands for one of two nouns."""
    words = [text[slice(*span)] for span in word_spans(text)]
    for example in ALL_EXAMPLES:
        if example.stands_for is not None and text in (example.text, example.twin):
            is_twin = text != example.text
            nouns = example.stands_for[::-1] if is_twin else example.stands_for
            return Marks(words.index(example.pronouns[is_twin]), *map(words.index, nouns))
    return None
