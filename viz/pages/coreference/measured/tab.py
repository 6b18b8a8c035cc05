"""Show which heads look from a pronoun to what it refers to, over a whole set of sentences."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
import streamlit as st

from model.errors import HeadlightError
from viz.access import models, traces
from viz.pages.coreference import data, figures, pair_controls, tables
from viz.pages.coreference.data import Pair
from viz.pictures.figures.charts import Head
from viz.pictures.figures.heads import head_map, short_names
from viz.pictures.head_table.component import head_table
from viz.selection import state
from viz.selection.choices import PAIR_SETS
from viz.text import html, written
from viz.text.language import NAMES
from viz.text.messages import Message, _, plural, said
from viz.text.messages import shown as text_shown
from viz.text.written import file_name, signed
from viz.ui import controls, downloads, formulas, frame, head_metrics, long_work, present, terms

if TYPE_CHECKING:
    from model.analysis.coreference.measure import ContrastScores, CoreferenceScores, SiteScores

SET_LABELS: Final = {"curated": said("Curated set"), "file": said("Your file")}
#: How many bad lines of a file are listed.
MOST_LISTED: Final = 100
#: What a map is of: its name, what it shows for those who hear it, and how to read it.
_MAPS: Final = {
    "accuracy": (
        said("accuracy"),
        said("accuracy of each head, layers by heads, {site}"),
        said("Accuracy: warm above chance, cold below. Rows are layers, columns heads; framed: the most accurate."),
    ),
    "margin": (
        said("weight margin"),
        said("weight margin of each head, layers by heads, {site}"),
        said(
            "Weight margin: antecedent minus distractor, mean over sentences. Rows are layers, columns heads; "
            "framed: the most accurate."
        ),
    ),
}
#: Pixels from which on what is said stands beside something else: on a page of 1,920 pixels, and on no smaller one.
WIDE: Final = 640
#: What a set is; of one whose controls have no pronoun, the second.
CONTROLS: Final = said(
    "{count:,} sentences, {controls} of them controls, in which the pronoun refers to neither noun. Weights are "
    "summed over the tokens of a candidate and averaged over those of the pronoun."
)
DROPPED: Final = said(
    "{count:,} sentences, {controls} of them controls, in which the subject is left out: they have no pronoun, so "
    "the row of the predicate without a subject is used. Weights are summed over the tokens of a candidate and "
    "averaged over those of the pronoun."
)
_BAD_LINE: Final = (html.Column(said("Line"), is_number=True), html.Column(said("Reason")))
FORMATS: Final = said(
    '| Extension | Each line is |\n|---|---|\n| `.jsonl` | `{"sentence": "The cat ate the fish because it was '
    'hungry.", "pronoun": "it", "antecedent": "The cat", "distractor": "the fish"}`; for a phrase that occurs twice, '
    "the characters `[begin, end]` instead. Optional: `id`, `group`, `pair` (the same for both sentences of a "
    "minimal pair), `right` and `wrong` (German sentences that differ in the pronoun), `control` (true if the "
    "pronoun refers to neither) |\n| `.jsonl` | Winograd: `sentence`, `tokens`, and the pronoun and both nouns as "
    "half-open spans of tokens |\n| `.tsv` | sentence, pronoun, antecedent, distractor, and optionally right, wrong, "
    "separated by tabs |\n| `.txt` | WinoBias: `1 [The developer] argued with the designer because [she] did not "
    "like the design.`, "
    "the two sentences of a pair on consecutive lines |"
)


@frame.fragment
def show() -> None:
    """The set, the measure, the button, and the results."""
    pair = pair_controls.show()
    instead = _("“Side by side” shows what the model's heads attend to when the German pronoun is written.")
    if frame.lacking(models.abilities(state.current().model), "self-attention", instead):
        return
    with st.container(key="choices", horizontal=True, vertical_alignment="center"):
        help_text = _(
            "A head is right about a sentence if the pronoun gives more weight to its antecedent than to the other "
            "candidate (the distractor); equal weights count half. Every head is tested on every sentence."
        )
        controls.segmented("pair_set", _("Measure on"), SET_LABELS, help_text=help_text)
        controls.measure(head_metrics.offered(models.abilities(state.current().model)))
    found = st.container()
    case_set = _case_set()
    if case_set is None:
        return
    about = _(
        DROPPED if any(case.is_dropped for case in case_set.cases.cases) else CONTROLS,
        count=len(case_set.cases.cases),
        controls=sum(case.is_control for case in case_set.cases.cases),
    )
    if _translates() and not models.is_english_german(state.current().model):
        message = "Measured in the row that reads the pronoun. {not_german}"
        frame.note(message, not_german=pair_controls.not_german(said("What the model writes for a pronoun")))
    source = models.languages(state.current().model)[0]
    is_curated = state.current().coreference.pair_set == PAIR_SETS[0]
    is_readable = not is_curated or source.partition("-")[0] in ("", data.set_language(source))
    if not is_readable:
        message = (
            "The set included with Headlight is in English, but this model reads {language}: choose a file in that "
            "language. Results on English sentences say little about this model."
        )
        frame.note(message, language=NAMES.get(source, controls.plain(source)))
    reader, measure = models.reader(state.current().model), state.current().common.measure
    task = data.scores_task(case_set, reader, measure)
    is_large = reader.num_bytes > models.LARGEST_UNASKED
    start = is_curated and _translates() and is_readable and not is_large
    label = _("Measure")
    if is_large and long_work.is_open(task, "measured"):
        seconds = data.expected_seconds(reader, case_set, measure)
        label = _("Measure {count:,} sentences, about {seconds:,.0f} s", count=task.total, seconds=seconds)
    scores = long_work.outcome(task, label, key="measured", start=start)
    if scores is None:
        terms.caption(about)
    else:
        found.markdown(terms.explained(tables.first_sentence(scores)))
        if not present.is_on() and (said_of := _of_pair(scores, pair)):
            terms.markdown(said_of)
        _show_scores(scores, file_name("coreference", scores.measure, case_set.name), about)


def _of_pair(scores: "CoreferenceScores", pair: Pair) -> str:
    """How much the most accurate head of the set gives antecedent and distractor in the chosen pair, as Markdown; ""
    where that cannot be said."""
    model, site = state.current().model, max(scores.sites.values(), key=_highest)
    if not all(pair.cases) or pair.is_control:
        return ""
    try:
        traces_of = [traces.trace(models.text_reader(model), text) for text in pair.texts]
    except HeadlightError:
        # The other tabs say why a text cannot be read; the set was measured all the same.
        return ""
    reader, measure = models.reader(model), state.current().common.measure
    sides = [
        data.own_rows(data.Side(number, trace, case), reader, site.site)
        for number, (trace, case) in enumerate(zip(traces_of, pair.cases, strict=True))
    ]
    moved = data.movement(sides, reader, site.site, measure) if all(side.rows for side in sides) else ""
    return "" if isinstance(moved, str) else tables.of_pair(site, moved.parts[tuple(site.best)])


def _case_set() -> "data.CaseSet | None":
    """Return the set to measure on; None until a file is loaded."""
    if state.current().coreference.pair_set == PAIR_SETS[0]:
        return data.curated(data.set_language(models.languages(state.current().model)[0]))
    with st.expander(_("File formats"), key="measured-format"):
        terms.markdown(_(FORMATS))
    label = _("JSONL, TSV or WinoBias text, UTF-8, at most {most} MB", most=downloads.most())
    file = downloads.field(label, key="measured-file")
    if file is None:
        return None
    case_set = data.read_cases(downloads.content(file), file.name)
    if bad := case_set.cases.rejected:
        left_out = plural(
            "{count:,} line is skipped; the others are used",
            "{count:,} lines are skipped; the others are used",
            len(bad),
        )
        with st.expander(left_out, key="measured-bad"):
            lines = [(str(line.number), text_shown(line.reason)[:300]) for line in bad[:MOST_LISTED]]
            st.html(html.table(_BAD_LINE, lines, label=_("Skipped lines")))
            if len(bad) > MOST_LISTED:
                frame.caption("And {num_bad:,} more.", num_bad=len(bad) - MOST_LISTED)
    return case_set


def _show_scores(scores: "CoreferenceScores", name: str, about: str) -> None:
    """The table, then the maps of each attention; on a projector one after another, the most accurate first."""
    sites, is_presented = list(scores.sites.values()), present.is_on()
    screen = present.steps(1 + len(sites), "screen", in_pin=True)
    if is_presented:
        sites = sorted(sites, key=_highest, reverse=True)[screen : screen + 1]
    if not (is_presented and sites):
        _accuracies(scores, about)
    # One scale for all: what glows in one attention would glow in the other.
    widest = max(float(site.margin.value.abs().max()) for site in scores.sites.values())
    with st.grid(1 if is_presented else 2, min_column_width=WIDE, gap="medium"):
        for site in sites:
            heading = _("{attention}: {row}", attention=written.label(site.site), row=tables.scored_row(site.site))
            name_of_site = f"{name}-{file_name(site.site).removeprefix('headlight-')}"
            with st.container():
                st.subheader(heading, anchor=False)
                _site(site, scores.unscored[site.site], name_of_site, max(figures.MARGIN_FLOOR, widest))
    if is_presented:
        return
    _contrast(scores, name)
    with st.container(horizontal=True):
        controls.table_button(_("Heads (CSV)"), partial(tables.heads, scores), f"{name}-heads")
        controls.table_button(_("Sentences (CSV)"), partial(tables.rows, scores), f"{name}-rows")
    with st.expander(_("Formulas and sources"), key="measured-formulas"):
        formulas.show(Path(__file__).with_name("formulas.md"))


def _accuracies(scores: "CoreferenceScores", about: str) -> None:
    """How often heads, the model and plain guesses are right."""
    message = (
        "{about} Accuracy is the share of sentences on which a head is right; in brackets are 95% bootstrap intervals "
        "over pairs of sentences. A head is chosen on one half of the pairs and tested on the other, because the best "
        "of many heads looks too good on the sentences it was chosen on. The last line tests the model, not a head: "
        "whether the model finds the German sentence with the right pronoun more probable."
    )
    with st.grid(1 if present.is_on() else 2, min_column_width=WIDE, gap="medium"):
        with st.container():
            with st.container(key="measured-said"):
                st.html(html.table(tables.COLUMNS, tables.summary(scores), label=_("Accuracies compared")))
            _skipped(scores.skipped, said("Could not be read: {reasons}."))
        with st.container(key="measured-said-how"):
            _said(_(message, about=about))


def _said(text: str) -> None:
    """Explain how to read the intervals: in full size on a projector, which has no small print."""
    (terms.markdown if present.is_on() else terms.caption)(text)


def _highest(site: "SiteScores") -> float:
    """How often the most accurate head is right."""
    return float(site.accuracy.value.max())


def _translates() -> bool:
    """Whether the chosen model is a translator, to whichever language."""
    return models.abilities(state.current().model).kind == "encoder-decoder"


def _skipped(counts: Mapping[str, int], sentence: Message, scored: int = 0) -> None:
    """Why sentences were passed over: in a sentence with {reasons}, and with {count} for those that were scored."""
    if counts:
        reasons = "; ".join(f"{count:,} × {controls.plain(_(reason))}" for reason, count in list(counts.items())[:8])
        frame.caption(sentence, reasons=reasons, count=scored)


def _site(site: "SiteScores", unscored: Mapping[str, int], name: str, widest_margin: float) -> None:
    """Verdict and maps of one site, then table and groups; margins are drawn up to the widest."""
    averaged = site.measure == "rollout"
    with st.container(key=f"measured-said-{site.site}"):
        terms.markdown(tables.verdict(site))
        head_metrics.show_taught(site.site)
        _said(tables.luck(site))
    _skipped(unscored, said("{count:,} sentences scored; not scored: {reasons}."), len(site.cases))
    maps = (
        ("accuracy", site.accuracy.value, 0.5, 0.5, ".3f"),
        ("margin", site.margin.value, 0.0, widest_margin, ".4f"),
    )
    with st.grid(2, min_column_width=330, gap="medium"):
        for kind, values, centre, floor, number in maps:
            title, alt, caption = _MAPS[kind]
            with st.container():
                figure = head_map(
                    values.numpy(), title=_(title), centre=centre, floor=floor, number=number, averaged=averaged,
                    marked=(site.best.layer, site.best.head), site=site.site,
                )  # fmt: skip
                key = f"measured-{site.site}-{kind}"
                frame.chart(figure, key, f"{name}-{kind}", _(alt, site=site.site))
                frame.caption(caption)
    label = _("All heads with their intervals, as a table and by group of sentences")
    with st.expander(label, on_change="rerun", key=f"measured-{site.site}-heads") as opened:
        if opened.open:
            _table(site)
            _groups(site, name)


def _heads(site: "SiteScores") -> list[Head]:
    """The heads in the order of the tables; none where they are averaged."""
    of_all = np.ndindex(*site.accuracy.value.shape)
    return [] if site.measure == "rollout" else [(site.site, layer, head) for layer, head in of_all]


def _table(site: "SiteScores") -> None:
    head_table(tables.accuracy_table(site), key=f"measured-{site.site}-table")
    frame.caption(
        "Click a column title to sort. “Clark’s form” checks which candidate contains the word with the largest "
        "weight; “reverse”, whether the antecedent gives the pronoun more weight than the distractor does; “on both "
        "nouns” is the mean weight on the two candidates together, in scored sentences and in controls."
    )


def _groups(site: "SiteScores", name: str) -> None:
    groups = {group: values.numpy() for group, values in site.of_groups().items()}
    if len(groups) > 1:
        names = short_names(*site.accuracy.value.shape, averaged=site.measure == "rollout")
        alt = _("Accuracy of every head in each group of sentences, {site}", site=site.site)
        frame.chart(
            figures.group_map(groups, names, _heads(site)), f"measured-{site.site}-groups", f"{name}-groups", alt
        )
        frame.caption(
            "Each row is a group of sentences, each column a head: warm if right, cold if wrong, dark at chance. The "
            "groups are small, so do not rely on single cells."
        )
    if told := tables.without_pronoun(site):
        terms.caption(told)
    elif site.controls is not None:
        layer, head = site.best
        frame.caption(
            "Controls: in {rows} sentences the pronoun refers to neither noun. In them, the most accurate head gives "
            "both nouns together a weight of {weight:.3f}; in scored sentences it gives them {weight_of_scored:.3f}. "
            "If the two numbers are similar, the head attends to nouns whether or not they are meant.",
            rows=site.controls.rows,
            weight=float(site.controls.weight[layer, head]),
            weight_of_scored=float(site.controls.weight_of_scored[layer, head]),
        )


def _contrast(scores: "CoreferenceScores", name: str) -> None:
    contrast = scores.contrast
    if contrast is None:
        none = _("No sentence of this set has German alternatives (fields right and wrong).")
        asked = said("Which German pronoun the model prefers")
        is_german = models.is_english_german(state.current().model)
        terms.caption(none if is_german or not _translates() else pair_controls.not_german(asked))
        return
    label = _("The model's own preference: how much more probable the right German pronoun is in each sentence")
    frame.unfolding(label, "measured-preference", _margins, contrast, name)


def _margins(contrast: "ContrastScores", name: str) -> None:
    mean, low, high = contrast.margin.at()
    margins = np.asarray(contrast.margins.double().numpy())
    frame.chart(
        figures.margin_bars(margins, [case.sentence for case in contrast.cases]),
        "measured-contrast",
        f"{name}-contrast",
        _("How strongly the model prefers the right German pronoun, one bar per sentence"),
    )
    message = (
        "Each bar is one of {num_cases} sentences: log p of the German with the right pronoun minus that with the "
        "wrong one; blue if the model is right. Mean {mean} nats ({low} to {high})."
    )
    frame.caption(message, num_cases=len(contrast.cases), mean=signed(mean), low=signed(low), high=signed(high))
    controls.table_button(_("Log-odds (CSV)"), partial(tables.contrast, contrast), f"{name}-margins")
