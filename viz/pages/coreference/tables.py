"""What was measured on pronouns and what may be concluded: sentences, rows, CSV. A rollout has no head."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np
from jaxtyping import Float

from viz.pictures.head_table.component import HeadColumn, HeadTable
from viz.text.html import Column
from viz.text.messages import _, in_a_row, plural, said, with_or
from viz.text.written import CROSS, DECODER, ENCODER, NAMES, NamedHead, head_label, percent, signed
from viz.ui.trace_tables import Row, cell, digits, table

if TYPE_CHECKING:
    from model.analysis.coreference.measure import ContrastScores, CoreferenceScores, HeldOutHead, SiteScores
    from model.analysis.metrics.estimates import Estimate
    from model.analysis.metrics.head_metrics import HeadName
    from model.analysis.two_models import HeadDistances
    from viz.pages.coreference import data


def movements(
    values: Float[np.ndarray, "layer head"], parts: Float[np.ndarray, "layer head sentence candidate"]
) -> bytes:
    """A row for each head: what its pronouns' rows give to antecedent and distractor, and how far it moves."""
    layers, heads = values.shape
    flat = digits(np.concatenate([parts.reshape(values.size, 4), values.reshape(values.size, 1)], axis=1))
    titles = ("antecedent_a", "distractor_a", "antecedent_b", "distractor_b", "movement")
    indices = np.ndindex(layers, heads)
    rows = ((layer, head if heads > 1 else "", *row) for (layer, head), row in zip(indices, flat, strict=True))
    return table(("layer", "head", *titles), rows)


def pair_rows(layer: int, queries: Sequence[str], rows: "Sequence[data.Row]") -> bytes:
    """A row for each sentence, head and key: what the query, by its name, gives it, and the role that it plays."""
    titles = ("sentence", "query", "layer", "head", "key_position", "key", "role", "value")
    return table(titles, _pair_rows(layer, queries, rows))


def _pair_rows(layer: int, queries: Sequence[str], sides: "Sequence[data.Row]") -> Iterator[Row]:
    for sentence, query, side in zip("AB", queries, sides, strict=True):
        role_of = {column: role for role, columns in side.marked.items() for column in columns}
        for head, numbers in enumerate(digits(side.values)):
            name = head if len(side.values) > 1 else ""
            for position, (label, number) in enumerate(zip(side.labels, numbers, strict=True)):
                role = role_of.get(position, "")
                yield sentence, cell(query), layer, name, position, cell(label), role, number


def heads(scores: "CoreferenceScores") -> bytes:
    """A row for each head of each site: accuracies and margin with the ends of their 95 % intervals."""
    metrics = ("accuracy", "margin", "strongest_word", "reverse")
    titles = [f"{name}{end}" for name in metrics for end in ("", "_low", "_high")]
    return table(("site", "layer", "head", "rows", *titles), _head_rows(scores))


def _head_rows(scores: "CoreferenceScores") -> Iterator[Row]:
    for name, site in scores.sites.items():
        layers, count = site.accuracy.value.shape
        estimates = (site.accuracy, site.margin, site.strongest_word, site.reverse)
        for layer in range(layers):
            for head in range(count):
                numbers = [number for estimate in estimates for number in _ends(estimate, layer, head)]
                yield name, layer, "" if scores.measure == "rollout" else head, len(site.cases), *numbers


def rows(scores: "CoreferenceScores") -> bytes:
    """A row for each sentence, site and head: the weight on either candidate."""
    titles = (
        "site", "row", "id", "pair", "group", "sentence", "pronoun", "antecedent", "distractor", "layer", "head",
        "weight_on_antecedent", "weight_on_distractor",
    )  # fmt: skip
    return table(titles, _case_rows(scores))


def _case_rows(scores: "CoreferenceScores") -> Iterator[Row]:
    for name, site in scores.sites.items():
        weights = site.weights.to.tolist()
        for number, case in enumerate(site.cases):
            words = (cell(case.sentence[slice(*span)]) for span in case.spans)
            about = (name, number, cell(case.name), cell(case.pair), cell(case.group), cell(case.sentence), *words)
            for layer, of_layer in enumerate(weights[number]):
                # The last is the mean of the layer's heads.
                for head, (right, wrong) in enumerate(of_layer[:-1]):
                    yield *about, layer, "" if scores.measure == "rollout" else head, repr(right), repr(wrong)


def contrast(scores: "ContrastScores") -> bytes:
    """A row for each sentence with German to choose from: how far the model prefers the right one, in nats."""
    lines = (
        (cell(case.name), cell(case.sentence), cell(case.german.right), cell(case.german.wrong), repr(margin))
        for case, margin in zip(scores.cases, scores.margins.tolist(), strict=True)
        if case.german is not None
    )
    return table(("id", "sentence", "right", "wrong", "margin_nats"), lines)


def _ends(estimate: "Estimate | None", layer: int, head: int) -> tuple[str, str, str]:
    if estimate is None:
        return "", "", ""
    value, low, high = estimate.at(layer, head)
    return repr(value), repr(low), repr(high)


def distances(found: "HeadDistances") -> bytes:
    """Every distance, in bits; heads are named as on pages."""
    rows, columns = ([head_label(head.layer, head.head) for head in heads] for heads in (found.first, found.second))
    numbers = digits(found.distances.numpy())
    return table(("head of layer", *columns), ((name, *line) for name, line in zip(rows, numbers, strict=True)))


def heads_and(heads: "Sequence[HeadName]", metrics: "Mapping[str, Float[np.ndarray, 'head']]") -> bytes:
    """A row for each head and a column for each of these metrics, by their names in English; NaN where not known."""
    numbers = digits(np.stack([*metrics.values()], axis=1))
    return table(("site", "layer", "head", *metrics), ((*head, *row) for head, row in zip(heads, numbers, strict=True)))


COLUMNS: Final = (
    Column(said("Share of sentences on which a head is right")),
    Column(said("Reading “it” (self-attention)"), is_number=True),
    Column(said("Writing its translation (cross-attention)"), is_number=True),
)
ABSENT: Final = "–"
#: Each half of the pairs within a sentence, and what is said of the head that is chosen on it.
_HALVES: Final = (said("first half"), said("second half"))
_BEST_OF_HALF: Final = (
    said("Best head of the first half, tested on the second half"),
    said("Best head of the second half, tested on the first half"),
)
#: What guesses or averages is called within a sentence, and at the beginning of a line.
NEAREST: Final = said("nearest candidate")
FIRST: Final = said("first candidate")
CHANCE: Final = said("chance")
MEAN_OF_HEADS: Final = said("mean of all heads")
_BASELINE_LINES: Final = {
    CHANCE: said("Chance"),
    NEAREST: said("Nearest candidate"),
    FIRST: said("First candidate"),
    MEAN_OF_HEADS: said("Mean of all heads"),
}


def scored_row(site: str) -> str:
    """In which row heads are asked about a pronoun, within a sentence."""
    return _("the row that writes the German pronoun") if site == CROSS else _("the pronoun's own row")


def first_sentence(scores: "CoreferenceScores") -> str:
    """What was found, in one plain sentence, as Markdown: the head that follows the antecedent, or that none does."""
    sure = [site for site in scores.sites.values() if site.held_out and all(of.beats_nearest for of in site.held_out)]
    if not sure:
        return _(
            "**No head reliably follows the antecedent:** chosen on one half of the pairs, none beats the nearest "
            "noun on the other half."
        )
    site = max(sure, key=_held_out_share)
    rows = sum(of.rows for of in site.held_out)
    nearest = sum(of.nearest * of.rows for of in site.held_out) / rows
    return _(
        "**{heads} of the {attention} follows the antecedent**: it gives more weight to the right noun in {share} of "
        "{rows} sentences; guessing the nearest noun is right in {nearest}.",
        heads=with_or(dict.fromkeys(_linked(site, *of.head) for of in site.held_out)),
        attention=NAMES[site.site].phrase,
        share=percent(_held_out_share(site)),
        rows=rows,
        nearest=percent(nearest),
    )


def _held_out_share(site: "SiteScores") -> float:
    """The accuracy of the best head of each half, on the sentences of the other half."""
    rows = sum(of.rows for of in site.held_out)
    return float(sum(float(of.accuracy.value) * of.rows for of in site.held_out) / rows)


def of_pair(site: "SiteScores", weights: Float[np.ndarray, "sentence candidate"]) -> str:
    """What the most accurate head gives antecedent and distractor in both sentences of a pair, as Markdown."""
    (first, first_other), (second, second_other) = weights.tolist()
    message = (
        "In the pair above, the most accurate head, {head}, is right in {count} of 2 sentences: it gives the "
        "antecedent a weight of {first:.2f} and the distractor {first_other:.2f} in the first sentence, and "
        "{second:.2f} and {second_other:.2f} in the second."
    )
    return _(
        message,
        head=_linked(site, *site.best),
        count=sum(right > wrong for right, wrong in weights.tolist()),
        first=first,
        first_other=first_other,
        second=second,
        second_other=second_other,
    )


def summary(scores: "CoreferenceScores") -> list[tuple[str, str, str]]:
    """Baselines, the heads chosen fairly and the model's own preference, a line each; a column a site."""
    # Of a model that only reads there is one site: the row of the pronoun, in the encoder or in a decoder alone.
    sites = [scores.sites.get(name) for name in (ENCODER, CROSS)]
    sites[0] = sites[0] or scores.sites.get(DECODER)
    named = [{} if site is None else baselines(site) for site in sites]
    lines = [
        (_(line), *(percent(of[name]) if of else ABSENT for of in named)) for name, line in _BASELINE_LINES.items()
    ]
    for half in (0, 1):
        lines.append((_(_BEST_OF_HALF[half]), *(_held_out(site, half) for site in sites)))
    own = ABSENT if scores.contrast is None else interval(scores.contrast.accuracy)
    lines.append((_("The model prefers the right German pronoun"), own, own))
    return [(title, encoder, cross) for title, encoder, cross in lines]


def baselines(site: "SiteScores") -> dict[str, float]:
    """The baselines of a site by their names, in English."""
    of = site.baselines
    return {NEAREST: of.nearest, FIRST: of.first, CHANCE: of.chance, MEAN_OF_HEADS: of.mean_of_heads}


def verdict(site: "SiteScores") -> str:
    """Whether a head, chosen on one half, beats the nearest candidate on the other: a sentence or two of Markdown."""
    if not site.held_out:
        return _("There are too few pairs to choose a head on one half and test it on the other.")
    better = [held_out for held_out in site.held_out if held_out.beats_nearest]
    verdict = _("**No head reliably beats the nearest candidate.**")
    if len(better) == len(site.held_out):
        verdict = _("**A head beats the nearest candidate, whichever half it is chosen on.**")
    elif better:
        verdict = _("**A head beats the nearest candidate in only one of the two halves.**")
    return in_a_row([verdict, *(_explained(site, held_out) for held_out in site.held_out)])


def _explained(site: "SiteScores", held_out: "HeldOutHead") -> str:
    gain, low, high = (signed(100 * value, 1) for value in held_out.gain.at())
    return _(
        _BETTER if held_out.beats_nearest else _NOT_BETTER,
        head=_linked(site, *held_out.head),
        half=_HALVES[held_out.chosen_on],
        accuracy=interval(held_out.accuracy),
        rows=held_out.rows,
        nearest=percent(held_out.nearest),
        gain=gain,
        low=low,
        high=high,
    )


_BETTER: Final = said(
    "{head}, chosen on the {half}, is right in {accuracy} of the {rows} sentences of the other half, the nearest "
    "candidate in {nearest}. The difference is {gain} points ({low} to {high}), so they are not equally good."
)
_NOT_BETTER: Final = said(
    "{head}, chosen on the {half}, is right in {accuracy} of the {rows} sentences of the other half, the nearest "
    "candidate in {nearest}. The difference is {gain} points ({low} to {high}), so they could be equally good."
)


def luck(site: "SiteScores") -> str:
    """How many heads would be above chance by luck, beside how many are."""
    count = site.accuracy.value.numel()
    above = int((site.accuracy.low > site.baselines.chance).sum())
    above_chance = (
        plural(
            "{count} of {layers} layers has an interval above chance; if all were guessing, about {by_luck:.1f} "
            "would be expected.",
            "{count} of {layers} layers have intervals above chance; if all were guessing, about {by_luck:.1f} would "
            "be expected.",
            above,
            layers=count,
            by_luck=count * 0.025,
        )
        if site.measure == "rollout"
        else plural(
            "{count} of {heads} heads has an interval above chance; if all were guessing, about {by_luck:.1f} would "
            "be expected.",
            "{count} of {heads} heads have intervals above chance; if all were guessing, about {by_luck:.1f} would "
            "be expected.",
            above,
            heads=count,
            by_luck=count * 0.025,
        )
    )
    message = (
        "The most accurate head on all sentences is {head} with {accuracy}; this is too high, because it was chosen on "
        "these same sentences."
    )
    most_accurate = _(message, head=_linked(site, *site.best), accuracy=interval(site.accuracy, *site.best))
    return in_a_row((above_chance, most_accurate))


def without_pronoun(site: "SiteScores") -> str:
    """What the most accurate head does where the subject is left out; "" where no control is like that."""
    controls, (layer, head) = site.controls, site.best
    if controls is None or controls.accuracy is None:
        return ""
    return _(
        "Controls: in {dropped} sentences the subject is left out. They have no pronoun, so the row of the predicate "
        "without a subject is used. In {accuracy} of them, the most accurate head gives the antecedent more weight. "
        "In all {rows} controls, it gives both nouns together a weight of {weight:.3f}; in scored sentences it gives "
        "them {weight_of_scored:.3f}. If the two numbers are similar, the head attends to nouns whether or not there "
        "is a pronoun.",
        dropped=controls.dropped,
        accuracy=percent(float(controls.accuracy[layer, head])),
        rows=controls.rows,
        weight=float(controls.weight[layer, head]),
        weight_of_scored=float(controls.weight_of_scored[layer, head]),
    )


def accuracy_table(site: "SiteScores") -> HeadTable:
    """A column for each metric of every head; accuracies and weights as shares."""
    columns = {
        said("Accuracy"): site.accuracy.value,
        said("accuracy, lower bound"): site.accuracy.low,
        said("accuracy, upper bound"): site.accuracy.high,
        said("Weight margin"): site.margin.value,
        said("margin, lower bound"): site.margin.low,
        said("margin, upper bound"): site.margin.high,
        said("Clark’s form"): site.strongest_word.value,
    }
    if site.reverse is not None:
        columns[said("Reverse")] = site.reverse.value
    if site.controls is not None:
        columns[said("On both nouns")] = site.controls.weight_of_scored
        columns[said("… in controls")] = site.controls.weight
    return HeadTable(
        [head_name(site, *head) for head in np.ndindex(*site.accuracy.value.shape)],
        [HeadColumn(name, values.flatten().double().numpy()) for name, values in columns.items()],
        said("Every head with its interval, as a table"),
    )


def head_name(site: "SiteScores", layer: int, head: int) -> str:
    """A head as people name it; with rollout, which averages heads, the layer: "L3, all heads"."""
    return head_label(layer, None) if site.measure == "rollout" else NamedHead(site.site, layer, head)


def _linked(site: "SiteScores", layer: int, head: int) -> str:
    name = head_name(site, layer, head)
    return name.link if isinstance(name, NamedHead) else name


def interval(estimate: "Estimate", *index: int) -> str:
    """A share with its interval; of several shares, the one at an index."""
    value, low, high = estimate.at(*index)
    return _("{share} ({low:.1f} to {high:.1f})", share=percent(value), low=100 * low, high=100 * high)


def _held_out(site: "SiteScores | None", half: int) -> str:
    """The best head of a half and its accuracy on the other."""
    for held_out in site.held_out if site else ():
        if site is not None and held_out.chosen_on == half:
            message = "{head}: {accuracy}"
            return said(message, head=head_name(site, *held_out.head), accuracy=interval(held_out.accuracy))
    return ABSENT
