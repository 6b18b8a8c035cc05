"""A choice between two words in some sentences, whatever model makes it, and the heads that may be its cause."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float

from viz.access.attribution import Explained
from viz.access.head_verdict import Stated
from viz.core.background_jobs import Task
from viz.core.messages import Message
from viz.selection.coreference import OthersOf

if TYPE_CHECKING:
    from model import Reader
    from model.analysis.interventions.head_effects import HeadEffects, RemovalEffect
    from model.analysis.interventions.patching import Patching
    from model.analysis.metrics.head_names import HeadName
    from model.analysis.word_diff import WordSpan


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
    """What is asked of the model. Arrays of heads are flat, in the order of `heads`.

    Attributes:
        heads: every head of the model.
        words: of each sentence the right word and the wrong one.
        is_one: whether it is a single pair of sentences.
        name: for files.
        helps: what a head works for whose loss lowers the log-odds, after "works for".
        given: where the log-odds are taken, to be read after "in nats".
        effects: every head switched off in turn: measured, and estimated by gradients.
        removal: these heads switched off together.
        verdict: what that does, as Markdown.
        has_right: whether the set says which word is right.
        compared: which token is compared when a head's output is taken from the other sentence, as a sentence.
        patching: every head's output taken from the other sentence.
        direct: the same, by the direct path alone; None where it is not asked.
        tested: head → three interventions on it in A; None of more pairs than one.
        explained: number of a sentence → every method of attribution on its right word rather than the wrong one.
        accuracy: of every head by its weights on the curated set, if that was measured.
    """

    heads: "tuple[HeadName, ...]"
    words: tuple[tuple[str, str], ...]
    is_one: bool
    name: str
    helps: Message
    given: Message
    effects: "Task[tuple[HeadEffects, HeadEffects]]"
    removal: "Callable[[frozenset[HeadName]], Task[Removal]]"
    verdict: Callable[[Removal], str]
    has_right: bool
    compared: Message
    patching: "Task[Patching]"
    explained: Callable[[int], Task[Explained]]
    tested: "Callable[[HeadName], Task[Stated]] | None" = None
    direct: "Task[Patching] | None" = None
    accuracy: Float[np.ndarray, "head"] | None = None


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
