"""Say in a sentence whether a choice flips when heads are switched off."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import numpy as np
from jaxtyping import Int

from viz.pages.coreference.cause.switched_heads import name, names
from viz.text.messages import Message, _, clauses_with_and, in_a_row, plural, said
from viz.text.numbers import signed
from viz.ui.controls import plain

if TYPE_CHECKING:
    from model.analysis.coreference.cases import PronounCase
    from model.analysis.interventions.head_effects import HeadEffects
    from model.analysis.metrics.head_names import HeadName
    from viz.pages.coreference.cause.data.asked import Removal

LETTERS: Final = "AB"


def german_words(case: "PronounCase") -> tuple[str, str]:
    """The two German pronouns between which the model chooses: the right one, and the other."""
    if case.german is None:
        return "", ""
    words = zip(case.german.right.split(), case.german.wrong.split(), strict=True)
    return next((right.strip(",.;:!?"), wrong.strip(",.;:!?")) for right, wrong in words if right != wrong)


def as_word(token: str) -> str:
    """A token as a word in a sentence: without the sign that one begins."""
    return token.removeprefix("▁") or token


def chosen_words(words: tuple[str, str], intact: float, without: float) -> tuple[str, str]:
    """The word that the model prefers with every head, and the one without some; `words` are right and wrong."""
    right, wrong = words
    return (right if intact > 0 else wrong), (right if without > 0 else wrong)


def sweep_sentence(effects: "HeadEffects", heads: Sequence["HeadName"], words: Sequence[tuple[str, str]]) -> str:
    """Which heads flip a choice when each is switched off alone; as Markdown. `words`: right and wrong of each case."""
    flips = effects.flips.numpy()
    flipped, order = flips.sum(0), _by_flips(effects)
    most, count = int(order[0]), int((flipped > 0).sum())
    if count == 0:
        change = float(effects.mean_changes[most])
        return _(
            "**Switched off alone, no head of {num_heads} flips the choice.** The loss of {head} moves it most: "
            "{change} nats on average.",
            num_heads=len(heads),
            head=name(heads[most]),
            change=signed(change),
        )
    if len(words) > len(LETTERS):
        return _(
            "**Switched off alone, {head} flips most choices: {flipped} of {num_choices}.** {count} of {num_heads} "
            "heads flip at least one.",
            head=name(heads[most]),
            flipped=flipped[most],
            num_choices=len(words),
            count=count,
            num_heads=len(heads),
        )
    changes = effects.changes[:, most].tolist()
    sentences = zip(LETTERS, words, effects.intact.tolist(), changes, flips[:, most], strict=False)
    change_of_words = clauses_with_and(
        _("{letter} from “{before}” to “{after}”", letter=letter, before=plain(before), after=plain(after))
        for letter, (before, after) in (
            (letter, chosen_words(both, intact, intact + change))
            for letter, both, intact, change, is_flipped in sentences
            if is_flipped
        )
    )
    others = [heads[i] for i in order[1:count]]
    rest = plural("So does {heads}.", "So do {heads}.", len(others), heads=names(others))
    flip = _(
        "**Switched off alone, {head} flips the choice: {changes}.**",
        head=name(heads[most]),
        changes=change_of_words,
    )
    return in_a_row((flip, rest if others else _("No other head does.")))


def strongest(effects: "HeadEffects") -> int:
    """The number of the head that the sentence names: the one that flips most choices, of these the one that matters
    most."""
    return int(_by_flips(effects)[0])


def _by_flips(effects: "HeadEffects") -> Int[np.ndarray, "head"]:
    return np.lexsort((-effects.importance.numpy(), -effects.flips.numpy().sum(0)))


def words_sentence(removal: "Removal", words: Sequence[tuple[str, str]]) -> str:
    """Whether the choice between two words flips when these heads are switched off together; as Markdown."""
    effect = removal.effect
    if len(words) > len(LETTERS):
        count = int(effect.flips.sum())
        if not count:
            return _("**No choice flips.**")
        return _("**The choice flips in {count} of {sentences} sentences.**", count=count, sentences=len(words))
    odds = zip(words, effect.intact.tolist(), effect.removed.tolist(), strict=True)
    both = [chosen_words(*of_case) for of_case in odds]
    of_a, of_b = (_change(before, after) for before, after in both)
    flips = any(before != after for before, after in both)
    if flips:
        return _("**The choice flips: in A likelier is now {of_a}, in B {of_b}.**", of_a=of_a, of_b=of_b)
    return _("**The choice does not flip: in A likelier is now {of_a}, in B {of_b}.**", of_a=of_a, of_b=of_b)


def removal_sentence(removal: "Removal", words: Sequence[tuple[str, str]], given: Message) -> str:
    """Whether the pronoun flips when these heads are switched off together; as Markdown.

    Of a pair, it is what the model writes without them; where the choice between two pronouns with all other words
    `given` says otherwise, that is said too.
    """
    effect = removal.effect
    if len(words) > len(LETTERS):
        return words_sentence(removal, words)
    written = [(before.lower(), after.lower()) for before, after in removal.pronouns]
    odds = zip(words, effect.intact.tolist(), effect.removed.tolist(), strict=True)
    chosen = [chosen_words(*of_case) for of_case in odds]
    flips = any(before != after and after for before, after in written)
    of_a, of_b = (_change(before, after) for before, after in removal.pronouns)
    verdict = (
        _("**The pronoun flips: in A it now writes {of_a}, in B {of_b}.**", of_a=of_a, of_b=of_b)
        if flips
        else _("**The pronoun does not flip: in A it now writes {of_a}, in B {of_b}.**", of_a=of_a, of_b=of_b)
    )
    otherwise = [
        _("{letter} keeps “{word}”", letter=letter, word=plain(before))
        if before == after
        else _("{letter} takes {words}", letter=letter, words=_change(before, after))
        for letter, (before, after), of_written in zip(LETTERS, chosen, written, strict=True)
        if (before.lower(), after.lower()) != of_written
    ]
    if not otherwise:
        return verdict
    choices = _("{given}, {choices}.", given=_begin(_(given)), choices=clauses_with_and(otherwise))
    return in_a_row((verdict, choices))


def all_words_given(*, is_own: bool) -> Message:
    """What stands around the pronoun where the log-odds of a choice are taken."""
    if is_own:
        return said("with all other words as the whole model wrote them")
    return said("with all other words as in the German of the set")


def _change(before: str, after: str) -> str:
    if not after:
        return _("no pronoun that can be told")
    if before == after:
        return _("“{word}” as before", word=plain(after))
    if not before:
        return f"“{plain(after)}”"
    return _("“{after}” instead of “{before}”", after=plain(after), before=plain(before))


def _begin(text: str) -> str:
    return text[0].upper() + text[1:]
