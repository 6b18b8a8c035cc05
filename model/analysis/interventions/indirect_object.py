"""Pairs of sentences that ask who is given something: indirect object identification (IOI).

"When Mary and John went to the shop, John gave a drink to" goes on with Mary: the name that was said once (Wang et al.
2022, "Interpretability in the Wild"). In the other sentence of a pair the giver is the other one. The sentences are our
own; a model chooses between the first tokens in which both names differ.
"""

from typing import Final, NamedTuple

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
