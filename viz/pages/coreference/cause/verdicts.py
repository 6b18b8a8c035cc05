"""Say in a sentence whether a choice flips when heads are switched off."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from viz.core.numbers import signed
from viz.pages.coreference.cause.switched_heads import name, names
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
    flipped = flips.sum(0)
    importance = effects.importance.numpy()
    order = np.lexsort((-importance, -flipped))
    most, count = int(order[0]), int((flipped > 0).sum())
    if count == 0:
        strongest = int(importance.argmax())
        change = float(effects.mean_changes[strongest])
        return (
            f"**No single head of {len(heads)} flips the choice.** {_begin(name(heads[strongest]))} moves it most: "
            f"{signed(change)} nats on average."
        )
    if len(words) > len(LETTERS):
        return (
            f"**Switched off alone, {name(heads[most])} flips most choices: {flipped[most]} of {len(words)}.** "
            f"{count} of {len(heads)} heads flip at least one."
        )
    changes = effects.changes[:, most].tolist()
    sentences = zip(LETTERS, words, effects.intact.tolist(), changes, flips[:, most], strict=False)
    said = " and ".join(
        f"{letter} from “{plain(before)}” to “{plain(after)}”"
        for letter, (before, after) in (
            (letter, chosen_words(both, intact, intact + change))
            for letter, both, intact, change, is_flipped in sentences
            if is_flipped
        )
    )
    others = [heads[i] for i in order[1:count]]
    rest = f"So does {names(others)}." if count == 2 else f"So do {names(others)}." if others else "No other head does."
    return f"**Switched off alone, {name(heads[most])} flips the choice: {said}.** {rest}"


def words_sentence(removal: "Removal", words: Sequence[tuple[str, str]]) -> str:
    """Whether the choice between two words flips when these heads are switched off together; as Markdown."""
    effect = removal.effect
    if len(words) > len(LETTERS):
        count = int(effect.flips.sum())
        return f"**The choice flips in {count} of {len(words)} sentences.**" if count else "**No choice flips.**"
    odds = zip(words, effect.intact.tolist(), effect.removed.tolist(), strict=True)
    both = [chosen_words(*of_case) for of_case in odds]
    of_a, of_b = (_change(before, after) for before, after in both)
    flips = any(before != after for before, after in both)
    return f"**The choice {'flips' if flips else 'does not flip'}: in A likelier is now {of_a}, in B {of_b}.**"


def removal_sentence(removal: "Removal", words: Sequence[tuple[str, str]], given: str) -> str:
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
    verdict = f"**The pronoun {'flips' if flips else 'does not flip'}: in A it now writes {of_a}, in B {of_b}.**"
    otherwise = [
        f"{letter} keeps “{plain(before)}”" if before == after else f"{letter} takes {_change(before, after)}"
        for letter, (before, after), of_written in zip(LETTERS, chosen, written, strict=True)
        if (before.lower(), after.lower()) != of_written
    ]
    if not otherwise:
        return verdict
    return f"{verdict} {_begin(given)}, {' and '.join(otherwise)}."


def all_words_given(*, is_own: bool) -> str:
    """What stands around the pronoun where the log-odds of a choice are taken."""
    return f"with all other words as {'the whole model wrote them' if is_own else 'in the German of the set'}"


def _change(before: str, after: str) -> str:
    if not after:
        return "no pronoun that can be told"
    if before == after:
        return f"“{plain(after)}” as before"
    return f"“{plain(after)}”" + (f" instead of “{plain(before)}”" if before else "")


def _begin(text: str) -> str:
    return text[0].upper() + text[1:]
