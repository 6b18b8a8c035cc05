"""Say in sentences and rows of tables what was measured on pronouns, and what a person may conclude from it."""

from typing import TYPE_CHECKING, Final

import numpy as np

from viz.core.html import Column
from viz.core.messages import _, said
from viz.core.numbers import percent, signed
from viz.core.sites import CROSS, DECODER, ENCODER, NAMES, head_label

if TYPE_CHECKING:
    from model.analysis.coreference.measure_translator import CoreferenceScores
    from model.analysis.coreference.scores import HeldOutHead, SiteScores
    from model.analysis.metrics.bootstrap import Estimate

COLUMNS: Final = (
    Column(said("Right in so many sentences")),
    Column(said("Reading “it” (self-attention)"), is_number=True),
    Column(said("Writing its translation (cross-attention)"), is_number=True),
)
HALVES: Final = ("first", "second")
ABSENT: Final = "–"


def first_sentence(scores: "CoreferenceScores") -> str:
    """What was found, in one plain sentence, as Markdown: the head that follows the antecedent, or that none does."""
    sure = [site for site in scores.sites.values() if site.held_out and all(of.beats_nearest for of in site.held_out)]
    if not sure:
        return (
            "**No head reliably follows what the pronoun stands for:** chosen on one half of the pairs, none beats the "
            "nearest noun on the other half."
        )
    site = max(sure, key=_held_out_share)
    rows = sum(of.rows for of in site.held_out)
    nearest = sum(of.nearest * of.rows for of in site.held_out) / rows
    named = " or ".join(dict.fromkeys(head_name(site, *of.head) for of in site.held_out))
    return (
        f"**{named} of the {NAMES[site.site].phrase} follows what the pronoun stands for**: it "
        f"gives more weight to the right noun in {percent(_held_out_share(site))} of {rows} sentences, where guessing "
        f"the nearest noun is right in {percent(nearest)}."
    )


def _held_out_share(site: "SiteScores") -> float:
    """The accuracy of the best head of each half, on the sentences of the other half."""
    rows = sum(of.rows for of in site.held_out)
    return float(sum(float(of.accuracy.value) * of.rows for of in site.held_out) / rows)


def summary(scores: "CoreferenceScores") -> list[tuple[str, str, str]]:
    """Baselines, the heads chosen fairly and the model's own preference, a line each; a column a site."""
    # Of a model that only reads there is one site: the row of the pronoun, in the encoder or in a decoder alone.
    sites = [scores.sites.get(name) for name in (ENCODER, CROSS)]
    sites[0] = sites[0] or scores.sites.get(DECODER)
    named = [{} if site is None else baselines(site) for site in sites]
    lines = [
        (name.capitalize(), *(percent(of[name]) if of else ABSENT for of in named))
        for name in ("chance", "nearest candidate", "first candidate", "mean of all heads")
    ]
    for half in (0, 1):
        cells = [_held_out(site, half) for site in sites]
        lines.append((f"Best head of the {HALVES[half]} half, on the other half", *cells))
    own = ABSENT if scores.contrast is None else interval(scores.contrast.accuracy)
    lines.append(("The model prefers the right German pronoun", own, own))
    return [(title, encoder, cross) for title, encoder, cross in lines]


def baselines(site: "SiteScores") -> dict[str, float]:
    """The baselines of a site by the names that people read."""
    of = site.baselines
    values = (of.nearest, of.first, of.chance, of.mean_of_heads)
    return dict(zip(("nearest candidate", "first candidate", "chance", "mean of all heads"), values, strict=True))


def verdict(site: "SiteScores") -> str:
    """Whether a head, chosen on one half, beats the nearest candidate on the other: one plain sentence or two."""
    if not site.held_out:
        return "There are too few pairs to choose a head on one half and report it on the other."
    better = [held_out for held_out in site.held_out if held_out.beats_nearest]
    verdict = "No head reliably beats the nearest candidate."
    if len(better) == len(site.held_out):
        verdict = "A head beats the nearest candidate, whichever half it is chosen on."
    elif better:
        verdict = "A head beats the nearest candidate in one of the two halves only."
    return " ".join([f"**{verdict}**", *(_explained(site, held_out) for held_out in site.held_out)])


def _explained(site: "SiteScores", held_out: "HeldOutHead") -> str:
    gain, low, high = (signed(100 * value, 1) for value in held_out.gain.at())
    excludes = "which excludes" if held_out.beats_nearest else "which does not exclude"
    return (
        f"{head_name(site, *held_out.head)}, chosen on the {HALVES[held_out.chosen_on]} half, is right in "
        f"{interval(held_out.accuracy)} of the {held_out.rows} sentences of the other, the nearest candidate in "
        f"{percent(held_out.nearest)}: {gain} points ({low} to {high}), {excludes} that they are "
        "equally good."
    )


def luck(site: "SiteScores") -> str:
    """How many heads would be above chance by luck, beside how many are."""
    count = site.accuracy.value.numel()
    above = int((site.accuracy.low > site.baselines.chance).sum())
    what = "layers" if site.measure == "rollout" else "heads"
    return (
        f"{above} of {count} {what} {'has an' if above == 1 else 'have'} interval{'' if above == 1 else 's'} above "
        f"chance; if all only guessed, about {count * 0.025:.1f} would by luck. The most accurate on all sentences is "
        f"{head_name(site, *site.best)} with {interval(site.accuracy, *site.best)}, too high because it was chosen "
        "on these same sentences."
    )


def without_pronoun(site: "SiteScores") -> str:
    """What the most accurate head does where the subject is left out; "" where no control is like that."""
    controls, (layer, head) = site.controls, site.best
    if controls is None or controls.accuracy is None:
        return ""
    return _(
        "Controls: in {dropped} sentences the subject is left out; no pronoun stands there, and one looks from the "
        "predicate that lacks it. There the most accurate head gives the antecedent more weight in {accuracy}. In "
        "all {rows} controls it puts {weight:.3f} on both nouns together, in scored sentences {weight_of_scored:.3f}: "
        "alike means that it looks at nouns, whether or not a pronoun asks for them.",
        dropped=controls.dropped,
        accuracy=percent(float(controls.accuracy[layer, head])),
        rows=controls.rows,
        weight=float(controls.weight[layer, head]),
        weight_of_scored=float(controls.weight_of_scored[layer, head]),
    )


def head_table(site: "SiteScores") -> dict[str, list[float] | list[str]]:
    """A column for each metric of every head; accuracies and weights as shares."""
    layers, heads = site.accuracy.value.shape
    table: dict[str, list[float] | list[str]] = {"Head": [head_name(site, *head) for head in np.ndindex(layers, heads)]}
    columns = {
        "Accuracy": site.accuracy.value,
        "from": site.accuracy.low,
        "to": site.accuracy.high,
        "Margin": site.margin.value,
        "margin from": site.margin.low,
        "margin to": site.margin.high,
        "Clark’s form": site.strongest_word.value,
    }
    if site.reverse is not None:
        columns["Reverse"] = site.reverse.value
    if site.controls is not None:
        columns["On both nouns"] = site.controls.weight_of_scored
        columns["… in controls"] = site.controls.weight
    return table | {name: values.flatten().tolist() for name, values in columns.items()}


def head_name(site: "SiteScores", layer: int, head: int) -> str:
    """A head as people name it; with rollout, which averages heads, the layer: "L3, all heads"."""
    return head_label(layer, None if site.measure == "rollout" else head)


def interval(estimate: "Estimate", *index: int) -> str:
    """A share with its interval; of several shares, the one at an index."""
    value, low, high = estimate.at(*index)
    return f"{percent(value)} ({100 * low:.1f} to {100 * high:.1f})"


def _held_out(site: "SiteScores | None", half: int) -> str:
    """The best head of a half and its accuracy on the other."""
    for held_out in site.held_out if site else ():
        if site is not None and held_out.chosen_on == half:
            return f"{head_name(site, *held_out.head)}: {interval(held_out.accuracy)}"
    return ABSENT
