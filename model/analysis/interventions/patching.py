"""Take one head's output from another text: activation patching and direct paths; and pairs of texts to take it from.

Patching (Vig et al. 2020, "Investigating Gender Bias in Language Models Using Causal Mediation Analysis"; Meng et al.
2022, "Locating and Editing Factual Associations in GPT"; Heimersheim & Nanda 2024, "How to use and interpret activation
patching"): the model reads A, but one head gives what it gave for B. The direct path (path patching, Wang et al. 2022,
"Interpretability in the Wild") is narrower: other heads keep what they gave for A, so that what the head says
differently reaches the choice by the residual stream and the feed-forward networks only, and not by heads of later
layers that read it; and where `receivers` are named, by these heads only.
"""

from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher
from functools import partial
from typing import Final, Generic, NamedTuple, TypeVar

import torch
from jaxtyping import Float
from torch import Tensor

from model.analysis.interventions.head_effects import (
    KeptOutputs,
    Outputs,
    batches,
    copies_at_once,
    most_heads,
    of_rows,
    sweep,
)
from model.analysis.metrics.head_names import HeadName, all_heads, check_heads
from model.errors import InputTextError
from model.interruption import Progress, no_progress
from model.word_choice import MASK, Choice, Chooser, TextChoice, TokenPlace, WordChoice, output_edits

NO_COUNTERPART = -1
#: Log-odds of A and B that are closer together, in nats, give no scale from 0 to 1.
SMALLEST_GAP = 1e-3


C_co = TypeVar("C_co", bound=WordChoice | TextChoice, covariant=True)


@dataclass(frozen=True)
class ChoicePair(Generic[C_co]):
    """The same choice after two texts: `right` is likelier after A, and `wrong` after B."""

    a: C_co
    b: C_co


@dataclass(frozen=True, eq=False, kw_only=True)
class Patching:
    """Log-odds of `right` against `wrong` (nats, CPU): reading A, reading B, and A with one head's output of B.

    Heads are in the order of `all_heads`.
    """

    a: Float[Tensor, "pair"]
    b: Float[Tensor, "pair"]
    patched: Float[Tensor, "pair head"]

    @property
    def changes(self) -> Float[Tensor, "pair head"]:
        """What the head of B adds to the log-odds of A."""
        return self.patched - self.a[:, None]

    @property
    def overall(self) -> Float[Tensor, "head"]:
        """Σ (patched − A) / Σ (B − A) over all pairs: no pair in which hardly anything is at stake can dominate."""
        gap = (self.b - self.a).sum()
        return self.changes.sum(0) / (gap if float(gap.abs()) >= SMALLEST_GAP else torch.nan)


@torch.inference_mode()
def patch_heads(reader: Chooser, pairs: Sequence[ChoicePair[Choice]], progress: Progress = no_progress) -> Patching:
    """Take each head's output from B in turn, over all pairs.

    A row is taken from its counterpart: the same position where both texts have as many tokens, else the token that
    matches it (`counterparts`); rows without one keep A's own output. The row that says the word is one of the row that
    says it in B.

    Args:
        reader: the model.
        pairs: at least one. Of two whole texts what follows the first token that differs may fit only one of A and B.
        progress: called with the number of runs done since the last call; there is one for each pair and head.
    """
    a, b = torch.empty(len(pairs)), torch.empty(len(pairs))
    patched = torch.empty(len(pairs), len(all_heads(reader.abilities.heads)))
    for numbers in batches(reader, [pair.a for pair in pairs], most_heads(reader)):
        batch = [pairs[number] for number in numbers]
        a[numbers], b[numbers], _, taken = _both_read(reader, batch)
        patched[numbers] = sweep(reader, [pair.a for pair in batch], taken.__getitem__, progress)
    return Patching(a=a, b=b, patched=patched)


@torch.inference_mode()
def patch_paths(
    reader: Chooser,
    pairs: Sequence[ChoicePair[Choice]],
    receivers: Collection[HeadName] = (),
    progress: Progress = no_progress,
) -> Patching:
    """The direct path of each head, over all pairs, one pair at a time; `progress` is called as above.

    Raises an EditError if a receiver does not exist.

    Args:
        reader, pairs: the model, and at least one pair.
        receivers: heads of later layers; by default none, and what is measured is the path to the choice itself.
    """
    check_heads(reader.abilities.heads, receivers)
    a, b, patched = [], [], []
    for pair in pairs:
        of_a, of_b, own, taken = _both_read(reader, [pair])
        a.append(of_a)
        b.append(of_b)
        patched.append(_paths(reader, pair.a, own, taken, frozenset(receivers), progress))
    return Patching(a=torch.cat(a), b=torch.cat(b), patched=torch.stack(patched))


def _paths(
    reader: Chooser, choice: Choice, own: Outputs, taken: Outputs, receivers: frozenset[HeadName], progress: Progress
) -> Float[Tensor, "head"]:
    """The log-odds with the path of each head, in the order of `all_heads`."""
    odds = []
    heads = all_heads(reader.abilities.heads)
    for start in range(0, len(heads), size := copies_at_once([choice])):
        senders = heads[start : start + size]
        direct = _OneSenderEach(own, taken, senders, receivers)
        found = reader.log_odds([choice], len(senders), output_edits(reader, direct))
        if receivers:
            received = partial(_received, direct.heard.joined(), receivers)
            found = reader.log_odds([choice], len(senders), output_edits(reader, received))
        odds.append(found[:, 0].cpu())
        progress(len(senders))
    return torch.cat(odds)


@dataclass(frozen=True, eq=False)
class _OneSenderEach:
    """In copy i all heads give what they gave for A, but `senders[i]` what it gave for B."""

    own: Outputs
    taken: Outputs
    senders: Sequence[HeadName]
    receivers: frozenset[HeadName]
    heard: KeptOutputs = field(default_factory=KeptOutputs)  #: what the layers of the receivers would give then

    def __call__(self, site: str, layer: int, output: Tensor) -> Tensor:
        own, taken = (of_rows(outputs[site, layer], output) for outputs in (self.own, self.taken))
        kept = own.repeat(len(self.senders), 1, 1, 1)
        for copy, sender in zip(kept.view(len(self.senders), -1, *own.shape[1:]), self.senders, strict=True):
            if (sender.site, sender.layer) == (site, layer):
                copy[:, sender.head] = taken[:, sender.head]
        if any((receiver.site, receiver.layer) == (site, layer) for receiver in self.receivers):
            self.heard(site, layer, output)
        return kept


def _received(heard: Outputs, receivers: Collection[HeadName], site: str, layer: int, output: Tensor) -> Tensor:
    """The heads' outputs, those of the receivers as they were heard."""
    changed = output.clone()
    for receiver in receivers:
        if (receiver.site, receiver.layer) == (site, layer):
            changed[:, receiver.head] = of_rows(heard[site, layer], output)[:, receiver.head]
    return changed


def _both_read(
    reader: Chooser, pairs: Sequence[ChoicePair[Choice]]
) -> tuple[Float[Tensor, "pair"], Float[Tensor, "pair"], Outputs, Outputs]:
    """The log-odds of A and of B, the outputs for A, and those for B at the rows of A."""
    (odds_a, own, a), (odds_b, taken, b) = (
        _read(reader, choices) for choices in ([pair.a for pair in pairs], [pair.b for pair in pairs])
    )
    return odds_a, odds_b, own, at_rows_of(a, b, own, taken)


def _read(reader: Chooser, choices: Sequence[Choice]) -> tuple[Float[Tensor, "choice"], Outputs, list[TokenPlace]]:
    """The log-odds (on the CPU), the outputs, and what was read, in the order of the decoder's sequences."""
    kept = KeptOutputs()
    odds = reader.log_odds(choices, edits=output_edits(reader, kept))[0].cpu()
    places = [place for of_kind in zip(*(choice.places for choice in choices), strict=True) for place in of_kind]
    return odds, kept.joined(), places


def at_rows_of(a: Sequence[TokenPlace], b: Sequence[TokenPlace], own: Outputs, taken: Outputs) -> Outputs:
    """The outputs for B at the rows of A; A's own where a row has no counterpart.

    Args:
        a, b: what was read, in the order of a batch's sequences; an encoder may have read the first of them only.
        own, taken: the outputs for A, and for B.
    """
    stacks = {site.partition(".")[0] for site, _ in own}
    matches = {
        stack: [torch.tensor(row_matches(*both, is_source=stack == "encoder")) for both in zip(a, b, strict=True)]
        for stack in stacks
    }
    aligned = {}
    for at, output in own.items():
        aligned[at] = output.clone()
        for rows, of_b, positions in zip(aligned[at], taken[at], matches[at[0].partition(".")[0]], strict=False):
            matched = (positions != NO_COUNTERPART).nonzero()[:, 0]
            rows[:, matched] = of_b[:, positions[matched]]
    return aligned


def row_matches(a: TokenPlace, b: TokenPlace, *, is_source: bool) -> list[int]:
    """For each row of a stack that reads A the row that reads its counterpart in B, or NO_COUNTERPART."""
    of_a, of_b = (place.source if is_source else place.target for place in (a, b))
    matches = counterparts(of_a, of_b)
    if is_source == bool(a.target):
        # Another stack says the word.
        return matches
    matches = [NO_COUNTERPART if match == b.row else match for match in matches]
    matches[a.row] = b.row
    return matches


def counterparts(a: Sequence[int], b: Sequence[int]) -> list[int]:
    """For each token of A the position of its counterpart in B, or NO_COUNTERPART.

    With as many tokens in both, the same position; else the tokens of the longest runs that both have in common, in
    order (Ratcliff & Obershelp 1988, as in difflib).
    """
    if len(a) == len(b):
        return list(range(len(a)))
    matches = [NO_COUNTERPART] * len(a)
    for block in SequenceMatcher(None, a, b, autojunk=False).get_matching_blocks():
        matches[block.a : block.a + block.size] = range(block.b, block.b + block.size)
    return matches


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
    """One pair for each frame, with two names: indirect object identification asks who is given something.

    "When Mary and John went to the shop, John gave a drink to" goes on with Mary: the name that was said once (Wang et
    al. 2022). In the other sentence of a pair the giver is the other one. The sentences are our own; a model chooses
    between the first tokens in which both names differ.
    """
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

    pair: ChoicePair[WordChoice]  #: both choices
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
        reader: the model.
        a: the text.
        b: the other text; "" for none: the pair then holds A twice.
        written: token ids that were written after A, the last of which is asked about; by default the first. Of a
            classifier the id of the label that is asked about.
    """
    texts = (reader.asked(a), reader.asked(b or a))
    begun = [reader.place(text) for text in texts]
    before = tuple(written[:-1])
    places = [replace(place, target=(*place.target, *before), row=place.row + len(before)) for place in begun]
    first, second = (reader.place_logits(place)[0] for place in places)
    # Where an answer begins is a token of the text: both choices must be in both texts.
    shared = min(len(first), len(second))
    right = written[-1] if written else int(first[:shared].argmax())
    if right >= shared:
        message = (
            "The other text has {count} tokens, and token {number} is asked about: choose an earlier one, or a longer "
            "text."
        )
        raise InputTextError(message, count=shared, number=right + 1)
    wrong = int(second[:shared].argmax())
    if wrong == right:
        wrong = _runner_up(reader, first[:shared], right)
    of_a, of_b = (WordChoice(place, right, wrong) for place in places)
    return WordPair(ChoicePair(of_a, of_b), (texts[0], texts[1] if b else ""), spelled(reader, of_a))


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
