"""Ask of all heads, over a pair of texts or a whole set, which carries a choice; and switch several off together."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

import numpy as np
from jaxtyping import Float

from model import later
from model.errors import DataError
from model.pairs import Pair as SentencePair
from model.pairs import parse_pairs
from viz.access import models
from viz.access.head_verdict import Question, all_heads, question
from viz.access.models import MAX_MODELS
from viz.selection.choices import ModelChoice, OthersOf, Replacement
from viz.server.background_jobs import Progress, Task
from viz.server.caches import cached
from viz.text.messages import said

if TYPE_CHECKING:
    from model.analysis.interventions.head_effects import HeadEffects, RemovalEffect
    from model.analysis.interventions.head_effects import Replacement as Outputs
    from model.analysis.interventions.patching import Patching
    from model.analysis.metrics.head_metrics import HeadName
    from model.analysis.word_diff import WordSpan
    from model.nn.hooks import Edit
    from model.reader import Writer
    from model.word_choice import Chooser, TokenPlace, WordChoice

#: A slice of sentence pairs for BLEU is no longer than this.
MOST_PAIRS: Final = 200
#: So many of the likeliest words are named.
LIKELIEST: Final = 3


@cached(max_entries=MAX_MODELS)
def pronoun_questions(reader: "Chooser") -> tuple[Question, ...]:
    """What is asked of an English–German translator."""
    return tuple(question(pair, name) for name, pair in later.pronoun_choice.pronoun_pairs(reader).items())


@cached(max_entries=MAX_MODELS)
def gift_questions(reader: "Chooser") -> tuple[Question, ...]:
    """What is asked of any other model: who is given something."""
    return tuple(question(pair, name) for name, pair in later.word_pairs.gift_pairs(reader).items())


def questions(model: ModelChoice) -> tuple[Question, ...]:
    """What a set asks of a model that says words."""
    reader = models.chooser(model)
    return pronoun_questions(reader) if models.is_english_german(model) else gift_questions(reader)


def choices(asked: Sequence[Question]) -> "tuple[WordChoice, ...]":
    """A and B of each question, each with its own right word."""
    return tuple(choice for each in asked for choice in (each.a, *([] if each.b is None else [each.b.turned])))


def words(asked: Sequence[Question]) -> list[tuple[str, str]]:
    """Of each of `choices` the right word and the wrong one, as the model spells them."""
    return [words for each in asked for words in (each.tokens, *([] if each.b is None else [each.tokens[::-1]]))]


def effects(
    reader: "Chooser", asked: Sequence[Question], of_set: Sequence[Question], instead: Replacement
) -> "Task[tuple[HeadEffects, HeadEffects]]":
    """Every head switched off in turn, over all choices: measured, and estimated by gradients.

    Args:
        asked: at least one.
        of_set: over whose texts means are taken in place of a head; none for those of `asked`.
        instead: what is put in place of a head: nothing, or its mean.
    """
    asked_for = choices(asked)

    def compute(progress: Progress) -> "tuple[HeadEffects, HeadEffects]":
        replacement = in_place(reader, of_set or asked, instead)
        estimated = later.head_effects.estimate_effects(reader, asked_for, replacement, lambda done: progress(0))
        return later.head_effects.measure_effects(reader, asked_for, replacement, progress), estimated

    runs = len(asked_for) * len(all_heads(reader))
    return Task(("effects", reader.key, asked_for, instead), runs, said("runs"), compute)


def patching(reader: "Chooser", asked: Sequence[Question], path: Literal["all", "direct"]) -> "Task[Patching]":
    """Every head's output of B put into A, in turn; by all paths to the word, or by the direct one alone."""
    pairs = tuple(later.patching.ChoicePair(each.a, each.b) for each in asked if each.b is not None)

    def compute(progress: Progress) -> "Patching":
        if path == "direct":
            return later.patching.patch_paths(reader, pairs, progress=progress)
        return later.patching.patch_heads(reader, pairs, progress)

    return Task(("patching", path, reader.key, pairs), len(pairs) * len(all_heads(reader)), said("runs"), compute)


@dataclass(frozen=True, eq=False)
class Removal:
    """What heads switched off together change."""

    effect: "RemovalEffect"  #: on the choices
    #: of one question of a translator of ours, what it writes in each text with every head and without these, word by
    #: word.
    written: "tuple[tuple[WordSpan, ...], ...]"
    #: of one question, the likeliest tokens in each text with every head and without these, with their probabilities.
    likeliest: tuple[tuple[tuple[tuple[str, float], ...], tuple[tuple[str, float], ...]], ...]


def removal(
    reader: "Chooser",
    asked: Sequence[Question],
    of_set: Sequence[Question],
    instead: Replacement,
    off: "frozenset[HeadName]",
) -> Task[Removal]:
    """These heads switched off together; arguments as of `effects`."""
    asked_for = choices(asked)

    def compute(progress: Progress) -> Removal:
        replacement = in_place(reader, of_set or asked, instead)
        effect = later.head_effects.remove_heads(reader, asked_for, off, replacement, progress)
        written, likely, edits = [], [], later.head_effects.off_edits(off, replacement)
        for choice in asked_for if len(asked) == 1 else ():
            likely.append((_likeliest(reader, choice.place, {}), _likeliest(reader, choice.place, edits)))
        if len(asked) == 1 and reader.abilities.kind == "encoder-decoder":
            writer = later.opening.as_writer(reader)
            for text in filter(None, asked[0].texts):
                whole = writer.translate(text)
                with later.head_effects.heads_off(writer, off, replacement):
                    written.append(later.word_diff.word_diff(whole, writer.translate(text)))
        return Removal(effect, tuple(written), tuple(likely))

    return Task(("removal", reader.key, asked_for, off, instead), len(asked_for), said("sentences"), compute)


def in_place(reader: "Chooser", asked: Sequence[Question], instead: Replacement) -> "Outputs | None":
    """What is put in place of a head: nothing, or its mean over all rows of the texts with the right words."""
    return None if instead == "zero" else _mean(reader, tuple(choice.place for choice in choices(asked)))


@cached(max_entries=MAX_MODELS)
def _mean(reader: "Chooser", places: "tuple[TokenPlace, ...]") -> "Outputs":
    return later.head_effects.mean_outputs(reader, places)


def _likeliest(reader: "Chooser", place: "TokenPlace", edits: "Mapping[str, Edit]") -> tuple[tuple[str, float], ...]:
    found = later.head_effects.likeliest(reader, place, LIKELIEST, edits)
    tokens = reader.vocabulary.tokens([token_id for token_id, _ in found])
    return tuple((token, share) for token, (_, share) in zip(tokens, found, strict=True))


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
    """Spearman’s ρ of the metrics of the same heads; NaN where there is none."""
    return later.head_metrics.rank_correlation(first, second)


def uploaded_pairs(content: bytes, name: str) -> "tuple[SentencePair, ...]":
    """The first `MOST_PAIRS` pairs of a text file called `name`, English TAB German.

    Raises a DataError if it is not UTF-8, or a line is not two texts with a tab between them.
    """
    try:
        lines = content.decode("utf-8-sig").split("\n")
    except UnicodeDecodeError as error:
        raise DataError(
            "Expected a text file in UTF-8, one pair per line: a sentence, a tab, its German translation."
        ) from error
    return tuple(parse_pairs(lines, name, MOST_PAIRS))


def bleu_change(
    writer: "Writer",
    reader: "Chooser",
    pairs: "tuple[SentencePair, ...]",
    of_set: Sequence[Question],
    instead: Replacement,
    off: "frozenset[HeadName]",
) -> Task[tuple[float, float]]:
    """BLEU of greedy translations with every head on, and with these switched off; other arguments as of `effects`.

    Both are the same model, as it writes and as it chooses.
    """

    def compute(progress: Progress) -> tuple[float, float]:
        replacement = in_place(reader, of_set, instead)
        intact = later.evaluation.evaluate_writer(writer, pairs, progress=progress)
        with later.head_effects.heads_off(writer, off, replacement):
            removed = later.evaluation.evaluate_writer(writer, pairs, progress=progress)
        return intact.bleu, removed.bleu

    return Task(("bleu", writer.key, pairs, off, instead), 2 * len(pairs), said("translations"), compute)
