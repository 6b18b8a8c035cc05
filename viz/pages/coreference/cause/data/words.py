"""Heads of any model that says words: what becomes of the choice between two of them without these heads."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

from model.errors import InputTextError
from viz.access import attribution, head_verdict
from viz.access.models import MAX_MODELS
from viz.core.background_jobs import Progress, Task
from viz.core.caching import cached
from viz.core.messages import said
from viz.pages.coreference.cause import verdicts
from viz.pages.coreference.cause.data.asked import Asked, Removal, all_heads
from viz.pages.coreference.data import MAX_CHOICES

if TYPE_CHECKING:
    from model.analysis.interventions.choice_effects import Replacement
    from model.analysis.interventions.head_effects import HeadEffects
    from model.analysis.interventions.patching import Patching
    from model.analysis.interventions.word_pairs import WordPair
    from model.analysis.metrics.head_names import HeadName
    from model.word_choice import Chooser, OutputsEdit, WordChoice

#: So many of the likeliest words are named.
LIKELIEST: Final = 5
#: Where a model says the word, after "in nats".
_GIVEN: Final = {
    "decoder": said("as the next token"),
    "encoder": said("in place of the mask"),
    "encoder-decoder": said("as the next token after what was written before"),
}


class TextPair(NamedTuple):
    """Two texts and two words; "" is the name of a person's own."""

    name: str
    pair: "WordPair"


@cached(max_entries=MAX_MODELS)
def set_pairs(reader: "Chooser") -> tuple[TextPair, ...]:
    """The sentences about who is given something, as far as their names are words of this model."""
    from model.analysis.interventions.indirect_object import indirect_object_pairs
    from model.analysis.interventions.word_pairs import asked_pair

    found = []
    for asked in indirect_object_pairs() if reader.abilities.kind != "encoder-decoder" else ():
        try:
            found.append(TextPair(asked.name, asked_pair(reader, asked)))
        except InputTextError:
            continue
    return tuple(found)


@cached(max_entries=MAX_CHOICES)
def own_pair(reader: "Chooser", a: str, b: str) -> TextPair:
    """A person's two texts, with the words that the model itself says. Raises what the model does."""
    from model.analysis.interventions.word_pairs import own_pair

    return TextPair("", own_pair(reader, a, b))


def asked(reader: "Chooser", pairs: Sequence[TextPair], instead: str) -> Asked:
    """What is asked of the model in these pairs; `instead` is "zero" or "mean"."""
    kind = reader.abilities.kind
    words = tuple(
        tuple(map(verdicts.as_word, pair.words if is_a else reversed(pair.words)))
        for _, pair in pairs
        for is_a in (True, False)
    )
    return Asked(
        heads=all_heads(reader),
        words=words,  # type: ignore[arg-type]
        is_one=len(pairs) == 1,
        name=pairs[0].name or "own pair" if len(pairs) == 1 else "all pairs",
        helps=said("the right word") if pairs[0].name else said("the word that the model says"),
        given=_GIVEN[kind],
        effects=_effects(reader, pairs, instead),
        removal=lambda off: _removal(reader, pairs, off, instead),
        verdict=lambda removal: verdicts.words_sentence(removal, words),  # type: ignore[arg-type]
        has_right=bool(pairs[0].name),
        compared=said("Compared are the two words."),
        patching=_patching(reader, pairs),
        direct=_patching(reader, pairs, is_direct=True),
        explained=partial(_explained, reader, pairs),
        tested=partial(_tested, reader, pairs[0]) if len(pairs) == 1 else None,
    )


def _choices(pairs: Sequence[TextPair]) -> list["WordChoice"]:
    """A and B of each pair, each with its own right word first."""
    from model.word_choice import WordChoice

    both = [choice for _, pair in pairs for choice in (pair.pair.a, pair.pair.b)]
    return [
        choice if number % 2 == 0 else WordChoice(choice.place, choice.wrong, choice.right)
        for number, choice in enumerate(both)
    ]


def _explained(reader: "Chooser", pairs: Sequence[TextPair], sentence: int) -> Task[attribution.Explained]:
    text = [text for _, pair in pairs for text in pair.texts][sentence]
    return attribution.explaining_words(reader, _choices(pairs)[sentence], text)


def _tested(reader: "Chooser", pair: TextPair, head: "HeadName") -> Task[head_verdict.Stated]:
    return head_verdict.on_words(reader, pair.pair.pair.a, pair.pair.pair.b, pair.pair.texts[0], head)


def _effects(reader: "Chooser", pairs: Sequence[TextPair], instead: str) -> Task[tuple["HeadEffects", "HeadEffects"]]:
    choices = _choices(pairs)

    def compute(progress: Progress) -> tuple["HeadEffects", "HeadEffects"]:
        from model.analysis.interventions.choice_effects import estimate_choices, measure_choices

        replacement = _replacement(reader, choices, instead)
        estimated = estimate_choices(reader, choices, replacement, lambda done: progress(0))
        return measure_choices(reader, choices, replacement, progress), estimated

    key = ("word-effects", reader.key, tuple(choices), instead)
    return Task(key, len(choices) * len(all_heads(reader)), said("runs"), compute)


def _removal(reader: "Chooser", pairs: Sequence[TextPair], off: "frozenset[HeadName]", instead: str) -> Task[Removal]:
    choices = _choices(pairs)

    def compute(progress: Progress) -> Removal:
        from model.analysis.interventions.choice_effects import off_edit, remove_in_choices

        replacement = _replacement(reader, choices, instead)
        effect = remove_in_choices(reader, choices, off, replacement, progress)
        without = off_edit(off, replacement)
        shown = choices if len(pairs) == 1 else []
        return Removal(effect, likeliest=tuple((_likeliest(reader, c), _likeliest(reader, c, without)) for c in shown))

    return Task(("word-removal", reader.key, tuple(choices), off, instead), len(choices), said("texts"), compute)


def _likeliest(
    reader: "Chooser", choice: "WordChoice", outputs: "OutputsEdit | None" = None
) -> tuple[tuple[str, float], ...]:
    from model.analysis.interventions.choice_effects import likeliest

    found = likeliest(reader, choice.place, LIKELIEST, outputs)
    tokens = reader.vocabulary.tokens([token_id for token_id, _ in found])
    return tuple((token, share) for token, (_, share) in zip(tokens, found, strict=True))


def _patching(reader: "Chooser", pairs: Sequence[TextPair], *, is_direct: bool = False) -> Task["Patching"]:
    read = [pair.pair for _, pair in pairs]

    def compute(progress: Progress) -> "Patching":
        from model.analysis.interventions.choice_patching import patch_choices, patch_paths

        if is_direct:
            return patch_paths(reader, read, progress=progress)
        return patch_choices(reader, read, progress)

    key = ("word-paths" if is_direct else "word-patching", reader.key, tuple(read))
    return Task(key, len(read) * len(all_heads(reader)), said("runs"), compute)


def _replacement(reader: "Chooser", choices: Sequence["WordChoice"], instead: str) -> "Replacement | None":
    """Nothing in place of a head, or its mean over the set, or over these texts where there is none for the model."""
    if instead == "zero":
        return None
    of_set = _choices(set_pairs(reader))
    return _mean(reader, tuple(of_set or choices))


@cached(max_entries=MAX_MODELS)
def _mean(reader: "Chooser", choices: tuple["WordChoice", ...]) -> "Replacement":
    from model.analysis.interventions.choice_effects import mean_head_outputs

    return mean_head_outputs(reader, choices)
