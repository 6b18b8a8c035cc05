"""A choice between two words in some sentences, whatever model makes it, and the heads that may be its cause."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float

from viz.access import attribution, head_verdict
from viz.access.attribution import Explained
from viz.access.head_verdict import Stated
from viz.access.models import MAX_MODELS
from viz.selection.coreference import OthersOf
from viz.server.background_jobs import Progress, Task
from viz.server.caches import cached
from viz.text.messages import Message, said

if TYPE_CHECKING:
    from model import Reader
    from model.analysis.interventions.head_effects import HeadEffects, RemovalEffect, Replacement
    from model.analysis.interventions.patching import ChoicePair, Patching
    from model.analysis.metrics.head_names import HeadName
    from model.analysis.word_diff import WordSpan
    from model.word_choice import Choice, Chooser, WordChoice


@dataclass(frozen=True)
class Question:
    """Two sentences that differ in a word, and a choice that the model makes in each.

    Attributes:
        name: of the pair; "" of a person's own.
        texts: A and B.
        words: in each, the right word and the wrong one.
        compared: in each, what heads are switched off in: its own right one against the wrong one.
        explained: in each, the same choice as that of a token.
        pair: A's right token against its wrong one, in A and in B.
        before: what a model of words has written before them.
    """

    name: str
    texts: tuple[str, str]
    words: tuple[tuple[str, str], tuple[str, str]]
    compared: "tuple[Choice, Choice]"
    explained: "tuple[WordChoice, WordChoice]"
    pair: "ChoicePair[WordChoice]"
    before: str = ""


@dataclass(frozen=True, eq=False)
class Removal:
    """What heads switched off together change.

    Attributes:
        effect: on the choices.
        written: of each sentence, the translation with every head and the one without these, word by word; empty where
            there are too many sentences to translate.
        pronouns: of each of these, what both write for the pronoun; "" where that cannot be told.
        likeliest: of each sentence, the likeliest words with every head and without these, as tokens with their
            probabilities; empty of translations of pronouns.
    """

    effect: "RemovalEffect"
    written: "tuple[tuple[WordSpan, ...], ...]" = ()
    pronouns: tuple[tuple[str, str], ...] = ()
    likeliest: tuple[tuple[tuple[tuple[str, float], ...], tuple[tuple[str, float], ...]], ...] = ()


@dataclass(frozen=True, eq=False, kw_only=True)
class Asked:
    """What is asked of a model. Arrays of heads are flat, in the order of `heads`.

    Attributes:
        reader: the model.
        questions: at least one.
        of_set: those over which means are taken in place of a head; none for `questions` themselves.
        instead: what is put in place of a head, "zero" or "mean".
        helps: what a head works for whose loss lowers the log-odds, after "works for".
        given: where the log-odds are taken, to be read after "in nats".
        verdict: what heads switched off do, as Markdown.
        compared: which token is compared when a head's output is taken from the other sentence, as a sentence.
        follows_paths: whether direct paths are asked for.
        seen: effect, heads and what is in their place → the same with what the model then writes.
        accuracy: of every head by its weights on the curated set, if that was measured.
    """

    reader: "Chooser"
    questions: Sequence[Question]
    of_set: Callable[[], Sequence[Question]]
    instead: str
    helps: Message
    given: Message
    verdict: Callable[[Removal], str]
    compared: Message
    follows_paths: bool
    seen: "Callable[[RemovalEffect, frozenset[HeadName], Replacement | None], Removal]"
    accuracy: Float[np.ndarray, "head"] | None = None

    @property
    def heads(self) -> "tuple[HeadName, ...]":
        """Every head of the model."""
        return all_heads(self.reader)

    @property
    def words(self) -> tuple[tuple[str, str], ...]:
        """Of each sentence the right word and the wrong one."""
        return tuple(words for question in self.questions for words in question.words)

    @property
    def is_one(self) -> bool:
        """Whether it is a single pair of sentences."""
        return len(self.questions) == 1

    @property
    def has_right(self) -> bool:
        """Whether the set says which word is right."""
        return bool(self.questions[0].name)

    @property
    def name(self) -> str:
        """For files."""
        return self.questions[0].name or "own pair" if self.is_one else "all pairs"

    @property
    def effects(self) -> "Task[tuple[HeadEffects, HeadEffects]]":
        """Every head switched off in turn: measured, and estimated by gradients."""
        choices = self._choices

        def compute(progress: Progress) -> "tuple[HeadEffects, HeadEffects]":
            from model.analysis.interventions.head_effects import estimate_effects, measure_effects

            replacement = self._in_place
            estimated = estimate_effects(self.reader, choices, replacement, lambda done: progress(0))
            return measure_effects(self.reader, choices, replacement, progress), estimated

        return Task(
            ("effects", self.reader.key, choices, self.instead), len(choices) * len(self.heads), said("runs"), compute
        )

    def removal(self, off: "frozenset[HeadName]") -> Task[Removal]:
        """These heads switched off together."""
        choices = self._choices

        def compute(progress: Progress) -> Removal:
            from model.analysis.interventions.head_effects import remove_heads

            replacement = self._in_place
            effect = remove_heads(self.reader, choices, off, replacement, progress)
            return self.seen(effect, off, replacement)

        return Task(("removal", self.reader.key, choices, off, self.instead), len(choices), said("sentences"), compute)

    @property
    def patching(self) -> "Task[Patching]":
        """Every head's output taken from the other sentence."""
        return self._patching(is_direct=False)

    @property
    def direct(self) -> "Task[Patching] | None":
        """The same, by the direct path alone; None where it is not asked."""
        return self._patching(is_direct=True) if self.follows_paths else None

    def explained(self, sentence: int) -> Task[Explained]:
        """Every method of attribution on the right word of a sentence, counted from 0, rather than the wrong one."""
        question = self.questions[sentence // 2]
        return attribution.explaining_words(self.reader, question.explained[sentence % 2], question.texts[sentence % 2])

    def tested(self, head: "HeadName") -> Task[Stated]:
        """Three interventions on a head, in A of the first pair."""
        question = self.questions[0]
        return head_verdict.on_words(self.reader, question.pair.a, question.pair.b, question.texts[0], head)

    @property
    def _choices(self) -> "tuple[Choice, ...]":
        return compared(self.questions)

    def _patching(self, *, is_direct: bool) -> "Task[Patching]":
        pairs = tuple(question.pair for question in self.questions)

        def compute(progress: Progress) -> "Patching":
            from model.analysis.interventions.patching import patch_heads, patch_paths

            if is_direct:
                return patch_paths(self.reader, pairs, progress=progress)
            return patch_heads(self.reader, pairs, progress)

        return Task(
            ("paths" if is_direct else "patching", self.reader.key, pairs),
            len(pairs) * len(self.heads),
            said("runs"),
            compute,
        )

    @property
    def _in_place(self) -> "Replacement | None":
        return in_place(self.reader, self.of_set() or self.questions, self.instead)


def compared(questions: Sequence[Question]) -> "tuple[Choice, ...]":
    """A and B of each question."""
    return tuple(choice for question in questions for choice in question.compared)


def in_place(reader: "Chooser", questions: Sequence[Question], instead: str) -> "Replacement | None":
    """What is put in place of a head: nothing, or its mean over all rows of the texts with the right words."""
    return None if instead == "zero" else _mean(reader, compared(questions))


@cached(max_entries=MAX_MODELS)
def _mean(reader: "Chooser", choices: "tuple[Choice, ...]") -> "Replacement":
    from model.analysis.interventions.head_effects import mean_outputs

    return mean_outputs(reader, [choice.places[0] for choice in choices])


def all_heads(reader: "Reader") -> "tuple[HeadName, ...]":
    """Every head of a model, in the order of tables [site, layer, head]."""
    from model.analysis.metrics.head_names import all_heads

    return all_heads(reader.abilities.heads)


def removed_heads(
    heads: "Sequence[HeadName]", chosen: "Collection[HeadName]", *, others_off: bool, others_of: OthersOf = "model"
) -> "frozenset[HeadName]":
    """What is switched off: the chosen heads; or all others of the model, of their attentions, or of their layers."""
    if not others_off:
        return frozenset(chosen)
    parts = {_part(head, others_of) for head in chosen}
    return frozenset(head for head in heads if _part(head, others_of) in parts) - set(chosen)


def _part(head: "HeadName", others_of: OthersOf) -> tuple[object, ...]:
    """What of the model a head belongs to."""
    return {"model": (), "attention": (head.site,), "layer": (head.site, head.layer)}[others_of]


def strongest_of_each_layer(
    heads: "Sequence[HeadName]", importance: Float[np.ndarray, "head"]
) -> "tuple[HeadName, ...]":
    """One head for each layer of each attention: the one that matters most."""
    best: dict[tuple[str, int], int] = {}
    for number, head in enumerate(heads):
        known = best.get((head.site, head.layer))
        if known is None or importance[number] > importance[known]:
            best[head.site, head.layer] = number
    return tuple(heads[number] for number in best.values())


def rank_correlation(first: Float[np.ndarray, "*shape"], second: Float[np.ndarray, "*shape"]) -> float:
    """Spearman's ρ of the metrics of the same heads; NaN where there is none."""
    from model.analysis.metrics.head_names import rank_correlation

    return rank_correlation(first, second)
