"""Two texts and two words: from a set, or two texts of a person with the words that the model itself would say.

`indirect_object_pairs` ask who is given something: indirect object identification (IOI). "When Mary and John went to
the shop, John gave a drink to" goes on with Mary: the name that was said once (Wang et al. 2022, "Interpretability in
the Wild"). In the other sentence of a pair the giver is the other one. The sentences are our own; a model chooses
between the first tokens in which both names differ.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Final, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from model.analysis.interventions.patching import ChoicePair
from model.errors import InputTextError
from model.word_choice import MASK, Chooser, TokenPlace, WordChoice

#: {x} and {y} are two people, and {giver} one of them.
FRAMES: Final = (
    "When {x} and {y} went to the market, {giver} handed a basket to",
    "After {x} and {y} had finished the soup, {giver} passed the bread to",
    "While {x} and {y} were waiting for the train, {giver} lent a pencil to",
    "Then {x} and {y} came home from school, and {giver} gave the key to",
    "Because {x} and {y} were cold in the tent, {giver} offered a blanket to",
    "Before {x} and {y} left the library, {giver} returned a book to",
    "As {x} and {y} walked along the beach, {giver} showed a shell to",
    "Once {x} and {y} had cleaned the garage, {giver} sold a bike to",
    "When {x} and {y} met at the station, {giver} brought a letter to",
    "After {x} and {y} had seen the film, {giver} sent a message to",
    "While {x} and {y} were cooking, {giver} threw a towel to",
    "Then {x} and {y} sat down by the fire, and {giver} told a story to",
    "When {x} and {y} opened the old box, {giver} gave a ring to",
    "After {x} and {y} had won the game, {giver} carried the cup to",
    "Before {x} and {y} went to sleep, {giver} read a poem to",
    "As {x} and {y} were leaving the party, {giver} handed a coat to",
)
NAMES: Final = (
    ("Mary", "John"), ("Tom", "James"), ("Sarah", "Paul"), ("Anna", "Mark"), ("Peter", "Kate"), ("David", "Laura"),
    ("Alice", "Bob"), ("Jack", "Emma"),
)  # fmt: skip


class AskedPair(NamedTuple):
    """Two texts; after A `right` is likelier than `wrong`, after B less likely."""

    name: str
    a: str
    b: str
    right: str
    wrong: str


def indirect_object_pairs() -> tuple[AskedPair, ...]:
    """One pair for each frame, with two names."""
    pairs = []
    for number, frame in enumerate(FRAMES):
        x, y = NAMES[number % len(NAMES)]
        a, b = (frame.format(x=x, y=y, giver=giver) for giver in (y, x))
        pairs.append(AskedPair(f"gift-{number + 1:02}", a, b, f" {x}", f" {y}"))
    return tuple(pairs)


#: Of so many likeliest tokens one is the second choice.
CANDIDATES: Final = 10


class WordPair(NamedTuple):
    """A pair of choices, as a person reads it."""

    pair: ChoicePair[WordChoice]
    texts: tuple[str, str]  #: A and B as the model reads them
    words: tuple[str, str]  #: the right token and the wrong one, as the model spells them


def asked_pair(reader: Chooser, asked: AskedPair) -> WordPair:
    """A pair of a set, for a model that goes on with a text, or fills in a mask behind it.

    Raises an InputTextError if both words begin with the same token, or are several tokens for a mask.
    """
    right, wrong = asked.right, asked.wrong
    texts = (asked.a, asked.b)
    if reader.abilities.kind == "encoder":
        texts, right, wrong = (f"{asked.a} {MASK}.", f"{asked.b} {MASK}."), right.strip(), wrong.strip()
    a, b = (reader.word_choice(text, right, wrong) for text in texts)
    return WordPair(ChoicePair(a, b), texts, spelled(reader, a))


def gift_pairs(reader: Chooser) -> dict[str, WordPair]:
    """Those of `indirect_object_pairs`, by their names, whose names of people are words of this model; an
    encoder–decoder, which does not go on with a text, has none."""
    found = {}
    for asked in indirect_object_pairs() if reader.abilities.kind != "encoder-decoder" else ():
        with suppress(InputTextError):
            found[asked.name] = asked_pair(reader, asked)
    return found


@torch.inference_mode()
def own_pair(reader: Chooser, a: str, b: str = "", written: Sequence[int] = ()) -> WordPair:
    """What a model says after a text, against what it says in its place after another one.

    Of a decoder that is the next token, of an encoder–decoder one that it writes, of an encoder the masked one ([MASK]
    in each text; the last word, where there is none), of a classifier a label. Where it says the same in both, or there
    is no other text, its second choice in A is the wrong word. Raises an InputTextError if a text is blank or too long,
    or has several masks; or B has not the token that is asked about.

    Args:
        b: the other text; "" for none: the pair then holds A twice.
        written: token ids that were written after A, the last of which is asked about; by default the first. Of a
            classifier the id of the label that is asked about.
    """
    texts = (reader.asked(a), reader.asked(b or a))
    begun = [reader.place(text) for text in texts]
    before = tuple(written[:-1])
    places = [replace(place, target=(*place.target, *before), row=place.row + len(before)) for place in begun]
    right, wrong = said_at(reader, places[0], places[1], written[-1] if written else None)
    of_a, of_b = (WordChoice(place, right, wrong) for place in places)
    return WordPair(ChoicePair(of_a, of_b), (texts[0], texts[1] if b else ""), spelled(reader, of_a))


@torch.inference_mode()
def said_at(reader: Chooser, a: TokenPlace, b: TokenPlace, written: int | None) -> tuple[int, int]:
    """What a model says at a place, or what was written there, and in its stead at another one, as `own_pair` says."""
    first, second = (reader.place_logits(place)[0] for place in (a, b))
    # Where an answer begins is a token of the text: both choices must be in both texts.
    shared = min(len(first), len(second))
    right = int(first[:shared].argmax()) if written is None else written
    if right >= shared:
        message = (
            "The other text has {count} tokens, but the question is about token {number}: choose an earlier "
            "one, or a longer text."
        )
        raise InputTextError(message, count=shared, number=right + 1)
    wrong = int(second[:shared].argmax())
    if wrong == right:
        wrong = _runner_up(reader, first[:shared], right)
    return right, wrong


def _runner_up(reader: Chooser, logits: Float[Tensor, "vocab"], token: int) -> int:
    """The likeliest token beside one that is not the same word in capitals."""
    likeliest: list[int] = logits.topk(min(CANDIDATES, len(logits))).indices.tolist()
    others = [i for i in likeliest if i != token]
    said, *names = reader.vocabulary.tokens([token, *others])
    return next((i for i, name in zip(others, names, strict=True) if name.casefold() != said.casefold()), others[0])


def spelled(reader: Chooser, choice: WordChoice) -> tuple[str, str]:
    """Both tokens of a choice, as the model spells them."""
    right, wrong = reader.vocabulary.tokens([choice.right, choice.wrong])
    return right, wrong
