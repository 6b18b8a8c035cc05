"""Draw the pronoun curriculum: sentence pairs in which “it” must become er, sie, es, ihn, ihm or ihr by meaning.

A grammar of our own draws a frame, nouns that fit into it and a cue that decides to whom “it” refers. Some frames, some
nouns and some combinations of noun and cue never occur in training, each for itself, so that what was learned can be
distinguished from what was learned by heart. Training may add a dictionary's nouns to those written by hand
(`model.training.dictionary_lexicon`). To the frames that were written one by one, training adds those that
`model.training.compositions` puts together.
"""

import hashlib
import random
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from typing import Literal, TypeVar, get_args

from model.pairs import Pair
from model.training import lexicon

HeldOut = Literal["frames", "drawn frames", "combinations", "nouns"]
HELD_OUT: tuple[HeldOut, ...] = get_args(HeldOut)
T = TypeVar("T")
Choice = tuple[lexicon.Noun, tuple[str, str]]
"""What “it” means, and the cue that decides it, in English and German."""

CONTRACTIONS = {
    "zu dem": "zum", "zu der": "zur", "in dem": "im", "von dem": "vom", "in das": "ins", "bei dem": "beim",
}  # fmt: skip
CONTRACTED = re.compile(rf"\b({'|'.join(CONTRACTIONS)})\b", re.IGNORECASE)
SENTENCE_START = re.compile(r"(?:^|[.?!] )\w")
ALWAYS_TRAINED = {"animal", "street"}
"""Words of the best known pair of sentences. They are learned, but never in one sentence together."""


@dataclass(frozen=True)
class PronounPair:
    """One sentence pair, and what its pronoun refers to."""

    source: str
    target: str
    frame: str
    antecedent: lexicon.Noun
    cue: str

    @property
    def pair(self) -> Pair:
        """The two sentences alone."""
        return Pair(self.source, self.target)


@dataclass(frozen=True)
class Draw:
    """A frame with its nouns and small words chosen; only the cue is open."""

    frame: lexicon.Frame
    a: lexicon.Noun
    b: lexicon.Noun | None
    determiners: tuple[str, str]
    who: tuple[str, str]
    degree: tuple[str, str]

    def about(self, antecedent: lexicon.Noun, cue: tuple[str, str]) -> PronounPair:
        """The sentence pair in which the cue makes “it” mean the antecedent."""
        nouns = {"a": (self.a, self.determiners[0]), "b": (self.b, self.determiners[1])}
        words = {"who": self.who, "deg": self.degree, "cue": cue}

        def fill(slot: re.Match[str], language: int) -> str:
            name, case = slot[1], slot[2]
            if name in words:
                return words[name][language]
            if name == "it":
                return antecedent.pronoun(_case(case))
            noun, determiner = nouns[name]
            assert noun is not None
            return noun.in_german(determiner, _case(case)) if language else noun.in_english(determiner)

        english = lexicon.SLOT.sub(lambda slot: fill(slot, 0), self.frame.english)
        german = lexicon.SLOT.sub(lambda slot: fill(slot, 1), self.frame.german)
        german = CONTRACTED.sub(lambda match: CONTRACTIONS[match[0].lower()], german)
        return PronounPair(capitalised(english), capitalised(german), self.frame.name, antecedent, cue[0])

    @property
    def choices(self) -> list[Choice]:
        """Every antecedent with every cue that points to it."""
        choices = [(self.a, cue) for cue in self.frame.about_a]
        if self.b is not None:
            choices += [(self.b, cue) for cue in self.frame.about_b]
        return choices

    @property
    def shows_a_known_pair(self) -> bool:
        """Whether both candidates are those of the best known sentences, or compounds of them."""
        return self.b is not None and {noun.head or noun.english for noun in (self.a, self.b)} == ALWAYS_TRAINED


def training_pairs(count: int, *, seed: int, nouns: lexicon.NounsByKind = lexicon.NOUNS) -> list[PronounPair]:
    """At most `count` different pairs to learn from, with no held-out frame, noun or combination among them."""
    both = zip(_written(seed, nouns), _composed(f"composed-{seed}", nouns), strict=False)
    return different(count, ((pair.source, pair) for pairs in both for pair in pairs))


def written_pairs(count: int, *, seed: int) -> list[PronounPair]:
    """Those of `training_pairs` whose frames were written one by one."""
    return different(count, ((pair.source, pair) for pair in _written(seed, lexicon.NOUNS)))


def held_out_twins(
    kind: HeldOut, part: lexicon.HeldOutPart, count: int, *, seed: int
) -> list[tuple[PronounPair, PronounPair]]:
    """At most `count` minimal pairs to measure with: one sentence twice, with a cue for either candidate.

    Only a thing of the named kind is new in them, and the pronouns of the two differ in German.
    """
    return different(count, ((twins[0].source, twins) for twins in _twins(kind, part, seed)))


def _twins(kind: HeldOut, part: lexicon.HeldOutPart, seed: int) -> Iterator[tuple[PronounPair, PronounPair]]:
    wanted = tuple(part if kind == other else "train" for other in ("combinations", "nouns"))
    frames = {"frames": lexicon.FRAMES[part], "drawn frames": lexicon.DRAWN_FRAMES[part]}.get(
        kind, lexicon.FRAMES["train"]
    )
    for draw, choice in _draws(frames, f"{kind}-{part}-{seed}", lexicon.NOUNS):
        if _parts(draw, *choice) != wanted:
            continue
        pair = draw.about(*choice)
        others = (draw.about(*other) for other in draw.choices if _parts(draw, *other) == wanted)
        fitting = [other for other in others if pronouns_in(other.target) != pronouns_in(pair.target)]
        if fitting:
            yield pair, random.Random(pair.source).choice(fitting)


def different(count: int, drawn: Iterable[tuple[str, T]]) -> list[T]:
    """The first `count` of different sentences; fewer if a thousand draws in a row bring no new one."""
    items: dict[str, T] = {}
    repeated = 0
    for source, item in drawn:
        repeated = repeated + 1 if source in items else 0
        items.setdefault(source, item)
        if len(items) == count or repeated == 1_000:
            break
    return list(items.values())


def pronouns_in(german: str) -> list[str]:
    """Personal pronouns of the third person in a German text, lower-cased, in their order."""
    return [word for word in re.findall(r"\w+", german.lower()) if word in lexicon.PRONOUN_FORMS]


def _draws(frames: Sequence[lexicon.Frame], seed: str, nouns: lexicon.NounsByKind) -> Iterator[tuple[Draw, Choice]]:
    """Draws without end, each with what “it” means in it. Words are put in later: most draws are of another part."""
    rng = random.Random(seed)
    weights = list(accumulate(2 if frame.kind_b else 1 for frame in frames))
    while True:
        frame = rng.choices(frames, cum_weights=weights)[0]
        kind_a = rng.choice(frame.kind_a.split())
        a = rng.choice(nouns[kind_a])
        b = rng.choice(nouns[frame.kind_b]) if frame.kind_b else None
        # Candidates of one gender teach little: most of them are drawn again.
        if a == b or (b is not None and a.gender == b.gender and rng.random() < 0.6):
            continue
        yield from _about_one(rng, frame, kind_a, a, b)


def _written(seed: int, nouns: lexicon.NounsByKind) -> Iterator[PronounPair]:
    drawn = _draws(lexicon.FRAMES["train"], f"train-{seed}", nouns)
    return (draw.about(*choice) for draw, choice in drawn if set(_parts(draw, *choice)) == {"train"})


def _composed(seed: str, nouns: lexicon.NounsByKind) -> Iterator[PronounPair]:
    """Pairs of composed frames, with no held-out noun or combination among them."""
    # The installed package, which trains on no made sentences, is without them.
    from model.training.compositions import compositions

    rng = random.Random(seed)
    for composition in compositions(rng, nouns):
        if _part_of_combination(composition.antecedent, composition.base) == "train":
            drawn = _about_one(rng, composition.frame, composition.frame.kind_a, composition.a, composition.b)
            yield from (draw.about(*choice) for draw, choice in drawn if set(_parts(draw, *choice)) == {"train"})


def _about_one(
    rng: random.Random, frame: lexicon.Frame, kind_a: str, a: lexicon.Noun, b: lexicon.Noun | None
) -> Iterator[tuple[Draw, Choice]]:
    """One draw, with all that is still open drawn; none if its candidates are those of the best known sentences."""
    determiners = (_determiner(rng, kind_a), _determiner(rng, frame.kind_b))
    draw = Draw(frame, a, b, determiners, rng.choice(lexicon.HUMANS), rng.choice(frame.degrees))
    # The candidate first, then the cue: both are meant equally often.
    antecedent = rng.choice(sorted({noun.english for noun, _ in draw.choices}))
    choice = rng.choice([choice for choice in draw.choices if choice[0].english == antecedent])
    if not draw.shows_a_known_pair:
        yield draw, choice


def _parts(draw: Draw, antecedent: lexicon.Noun, cue: tuple[str, str]) -> tuple[str, str]:
    """To which part noun-cue combination and nouns belong."""
    nouns = {part_of_noun(noun.english) for noun in (draw.a, draw.b) if noun is not None}
    if nouns != {"train"}:
        return "train", nouns.pop() if len(nouns) == 1 else "mixed"
    return _part_of_combination(antecedent, cue[0]), "train"


def _part_of_combination(noun: lexicon.Noun, cue: str) -> lexicon.Part:
    """What is held out of a noun is held out of its compounds in a dictionary."""
    parts = (_part_by_hash(f"{name} {cue}", dev=6, test=10) for name in (noun.head, noun.english) if name)
    return next((part for part in parts if part != "train"), "train")


def part_of_noun(english: str) -> lexicon.Part:
    """To which part a noun belongs."""
    return "train" if english in ALWAYS_TRAINED else _part_by_hash(english, dev=6, test=10)


@cache
def _part_by_hash(name: str, *, dev: int, test: int) -> lexicon.Part:
    """A part for each name, the same on every machine: so many in a hundred for dev and for test."""
    number = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8]) % 100
    return "dev" if number < dev else "test" if number < dev + test else "train"


def _determiner(rng: random.Random, kind: str) -> str:
    choice = rng.choices(("the", "a", "my", "this"), (70, 12, 8, 10))[0]
    return "the" if choice == "a" and kind in lexicon.UNCOUNTED else choice


def _case(name: str) -> lexicon.Case:
    assert name in lexicon.CASES, name
    return name


def capitalised(text: str) -> str:
    """With a capital at the beginning of every sentence."""
    return SENTENCE_START.sub(lambda match: match[0].upper(), text)
