"""Ask any model that says words which of two comes next, in the sentences of a set or in a person's own."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from model.errors import InputTextError
from viz.access.models import MAX_MODELS
from viz.pages.coreference.cause import verdicts
from viz.pages.coreference.cause.data.asked import Asked, Question, Removal
from viz.pages.coreference.data import MAX_CHOICES
from viz.server.caches import cached
from viz.text.messages import said

if TYPE_CHECKING:
    from model.analysis.interventions.head_effects import RemovalEffect, Replacement
    from model.analysis.interventions.word_pairs import WordPair
    from model.analysis.metrics.head_names import HeadName
    from model.nn.hooks import Edit
    from model.word_choice import Chooser, TokenPlace

#: So many of the likeliest words are named.
LIKELIEST: Final = 5
#: Where a model says the word, after "in nats".
_GIVEN: Final = {
    "decoder": said("as the next token"),
    "encoder": said("in place of the mask"),
    "encoder-decoder": said("as the next token after what was written before"),
}


@cached(max_entries=MAX_MODELS)
def set_pairs(reader: "Chooser") -> tuple[Question, ...]:
    """The sentences about who is given something, as far as their names are words of this model."""
    from model.analysis.interventions.word_pairs import asked_pair, indirect_object_pairs

    found = []
    for asked in indirect_object_pairs() if reader.abilities.kind != "encoder-decoder" else ():
        try:
            found.append(_question(asked.name, asked_pair(reader, asked)))
        except InputTextError:
            continue
    return tuple(found)


@cached(max_entries=MAX_CHOICES)
def own_pair(reader: "Chooser", a: str, b: str) -> Question:
    """A person's two texts, with the words that the model itself says. Raises what the model does."""
    from model.analysis.interventions.word_pairs import own_pair

    return _question("", own_pair(reader, a, b))


def _question(name: str, asked: "WordPair") -> Question:
    right, wrong = map(verdicts.as_word, asked.words)
    choices = (asked.pair.a, asked.pair.b.turned)
    return Question(
        name, asked.texts, ((right, wrong), (wrong, right)), choices, choices, asked.pair, before=asked.before
    )


def asked(reader: "Chooser", questions: Sequence[Question], instead: str) -> Asked:
    """What is asked of the model; `instead` is "zero" or "mean"."""

    def seen(effect: "RemovalEffect", off: "frozenset[HeadName]", replacement: "Replacement | None") -> Removal:
        from model.analysis.interventions.head_effects import off_edits

        without, likeliest = off_edits(off, replacement), []
        for choice in questions[0].explained if len(questions) == 1 else ():
            likeliest.append((_likeliest(reader, choice.place), _likeliest(reader, choice.place, without)))
        return Removal(effect, likeliest=tuple(likeliest))

    made = Asked(
        reader=reader,
        questions=questions,
        of_set=lambda: set_pairs(reader),
        instead=instead,
        helps=said("the right word") if questions[0].name else said("the word that the model says"),
        given=_GIVEN[reader.abilities.kind],
        verdict=lambda removal: verdicts.words_sentence(removal, made.words),
        compared=said("Compared are the two words."),
        follows_paths=True,
        seen=seen,
    )
    return made


def _likeliest(
    reader: "Chooser", place: "TokenPlace", edits: "Mapping[str, Edit] | None" = None
) -> tuple[tuple[str, float], ...]:
    from model.analysis.interventions.head_effects import likeliest

    found = likeliest(reader, place, LIKELIEST, edits or {})
    tokens = reader.vocabulary.tokens([token_id for token_id, _ in found])
    return tuple((token, share) for token, (_, share) in zip(tokens, found, strict=True))
