"""Compare the chosen model with a second one: first what differs in what they write, then their heads."""

from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np
import streamlit as st

from viz.access import models, traces
from viz.pages.coreference import data, figures, moved, pair_controls, tables
from viz.pictures.figures.charts import row_labels, token_labels
from viz.pictures.figures.heads import WEIGHT_SCALE, matrix
from viz.selection import catalogue, state
from viz.selection.choices import ModelChoice
from viz.text import html, written
from viz.text.messages import _, in_a_row, plural, said
from viz.text.written import NamedHead, file_name, signed
from viz.ui import controls, frame, long_work, present, terms
from viz.ui.controls import plain
from viz.ui.sentence import in_another_language
from viz.ui.token_labels import rows_said

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

    from model import Trace
    from model.analysis.two_models import HeadDistances

_MAP: Final = "two-models-map"
#: Pairs of heads that are named.
NAMED: Final = 5
#: Longer texts have too many words for a picture of a head beside another.
MOST_WORDS: Final = 60
OVER_LABELS: Final = {"text": said("First sentence"), "corpus": said("Headlight's 200 sentences")}


@frame.fragment
def show() -> None:
    """Which second model, what both write, the distances of their heads, and two heads beside each other."""
    pair = pair_controls.show()
    offered = offered_models()
    if not offered:
        frame.note("No other model on the list reads text. Add one under “Add a model” on the left.")
        return
    own = state.current().model
    with st.container(key="choices", horizontal=True, vertical_alignment="bottom"):
        asked = state.current().coreference.second_model
        state.drop_asked(second_model=asked not in ("", *offered))
        shown = asked if asked in offered else next(iter(offered))
        other_name = controls.dropdown("second_model", _("Second model"), offered, shown=shown, width=200)
        other = ModelChoice(other_name, own.device, catalogue.folder_of(other_name))
        with frame.loading():
            first, second = models.reader(own), models.reader(other)
        pairs = data.sites_of(first, second)
        asked_site = state.current().common.site
        site = asked_site if asked_site in pairs else next(iter(pairs))
        if len(pairs) > 1:
            site = controls.site(list(pairs))
        controls.segmented("texts_of_both", _("Measure on"), OVER_LABELS)
    both = site, pairs[site]
    text = pair.texts[0]
    read = traces.trace(first, text), traces.trace(second, text)
    names = models.name_of(own), models.name_of(other)
    with st.grid(2, min_column_width=430, gap="medium"):
        picture, words = st.container(), st.container(key="nearest-heads")
    with words:
        _cautions(read, names, (own, other))
        _written(read, names, models.target_language(own))
    texts = data.own_sentences() if state.current().coreference.texts_of_both == "corpus" else (text,)
    task = data.distances((own, other), texts, both)
    label = plural("Read {count} sentence with both models", "Read {count} sentences with both models", len(texts))
    with picture:
        found = long_work.outcome(task, label, key="two-models", start=len(texts) == 1)
    if found is not None:
        _heads(found, data.read_by_both(first, second, text), both, names, (picture, words))
    moved.show((own, other), names)


def offered_models() -> dict[str, str]:
    """Names of the other models that read text → how they are listed."""
    own = state.current().model.checkpoint or next(iter(catalogue.models()), "")
    others = [name for name in catalogue.models() if name != own]
    kinds = {name: models.kind(choice_of(name)) for name in others}
    readable = [name for name in others if models.reads(choice_of(name)) == "text"]
    # One of the same kind has the same attentions to compare.
    kind = models.kind(state.current().model)
    readable.sort(key=lambda name: kinds[name] != kind)
    return {name: catalogue.label(name) for name in readable}


def choice_of(name: str) -> ModelChoice:
    """The second model, on the device of the first."""
    return ModelChoice(name, state.current().model.device, catalogue.folder_of(name))


def _cautions(read: "tuple[Trace, Trace]", names: tuple[str, str], choices: tuple[ModelChoice, ModelChoice]) -> None:
    """Which of the models does not read the language of the text."""
    for trace, name, choice in zip(read, names, choices, strict=True):
        if caution := in_another_language(trace.text, models.languages(choice)[0]):
            terms.caption(f"**{plain(name)}** {caution}")


def _written(read: "tuple[Trace, Trace]", names: tuple[str, str], language: str) -> None:
    """What both wrote, as one text, and how probable each found its own."""
    first, second = read
    if not (first.translation and second.translation):
        return
    if first.translation == second.translation:
        terms.markdown(_("**Both write the same translation:** {translation}", translation=plain(first.translation)))
    else:
        spans = data.written_differences(first.translation, second.translation)
        st.html(html.word_changes(spans, names=names, language=language))
    rows = []
    for name, trace in zip(names, read, strict=True):
        total = sum(step.log_prob for step in trace.steps)
        count = len(trace.steps)
        rows.append((name, str(count), signed(total), signed(total / count, 3)))
    numbers = [html.Column(title, is_number=True) for title in (_("Tokens"), _("log p"), _("log p per token"))]
    st.html(
        html.table((html.Column(_("Model")), *numbers), rows, label=_("How probable each model finds its own text"))
    )
    frame.caption(
        "log p of the text that the model itself wrote, in nats; models with different tokens are not comparable."
    )


def _heads(
    found: "HeadDistances",
    read: "tuple[Trace, Trace]",
    both: tuple[str, str],
    names: tuple[str, str],
    columns: "tuple[DeltaGenerator, DeltaGenerator]",
) -> None:
    """The map in the first of these columns, what it says in the second, and two heads below both."""
    values, matching = found.distances.double().numpy(), found.matching()
    nearest = found.first[matching[0][0]]
    state.propose(site=both[0], layer=nearest.layer, head=nearest.head)
    common = state.current().common
    at = next((i for i, head in enumerate(found.first) if head[1:] == (common.layer, common.head)), None)
    row = matching[0][0] if at is None else at
    column = int(values[row].argmin())
    first, second = found.first[row], found.second[column]
    labels = (written.head_label(first.layer, first.head), written.head_label(second.layer, second.head))
    name, (picture, words) = file_name("two models", both[0], *names), columns
    with picture:
        figure = figures.distance_map(values, found.first, found.second, matching=matching, opened=(row, column))
        figure.update_layout(
            yaxis={"title": {"text": plain_title(names[0])}}, xaxis={"title": {"text": plain_title(names[1])}}
        )
        alt = _("Distance of each head of {first} from each head of {second}", first=names[0], second=names[1])
        frame.chart_of_heads(figure, f"{_MAP}-{row}", name, alt)
    with words:
        with st.container(key="choices-of-head", horizontal=True, vertical_alignment="bottom"):
            controls.layer(1 + max(head.layer for head in found.first))
            controls.head(1 + max(head.head for head in found.first if head.layer == first.layer))
        st.markdown(
            _(
                "**{first_head} of {first_model} is nearest to {second_head} of {second_model}: {distance:.3f} bits "
                "apart.**",
                first_head=labels[0],
                first_model=plain(names[0]),
                second_head=labels[1],
                second_model=plain(names[1]),
                distance=values[row, column],
            )
        )
        _nearest(found, values, matching)
        terms.caption(_compared(found))
        controls.table_button(_("All distances (CSV)"), partial(tables.distances, found), name)
    if not present.is_on():
        _pictures(read, both, (first[1:], second[1:]), labels, names)


def _compared(found: "HeadDistances") -> str:
    """What the map shows, and over which words."""
    where = _("{count:,} sentences", count=found.texts) if found.texts > 1 else _("this text")
    message = (
        "Each cell is the Jensen–Shannon divergence of the rows of two heads, 0 to 1 bit, over {rows:,} words of "
        "{where} that both models read: the lighter, the closer. Dots mark the one-to-one matching with the smallest "
        "sum, the ring the two heads below. Choose a head of the first model above, or click a cell."
    )
    shown = _(message, rows=found.rows, where=where)
    left_out = plural("{count:,} text could not be compared.", "{count:,} texts could not be compared.", found.skipped)
    return in_a_row((shown, left_out if found.skipped else ""))


def plain_title(name: str) -> str:
    """The name of a model as an axis shows it."""
    return token_labels([name])[0]


def _nearest(found: "HeadDistances", values: np.ndarray, matching: list[tuple[int, int]]) -> None:
    rows = [
        (
            NamedHead(*found.first[i]),
            written.head_label(found.second[j].layer, found.second[j].head),
            f"{values[i, j]:.3f}",
        )
        for i, j in matching[:NAMED]
    ]
    columns = (html.Column(_("Head")), html.Column(_("Match")), html.Column(_("Distance (bits)"), is_number=True))
    st.html(html.table(columns, rows, label=_("The closest pairs of the best matching")))


def _pictures(
    read: "tuple[Trace, Trace]",
    both: tuple[str, str],
    heads: tuple[tuple[int, int], tuple[int, int]],
    labels: tuple[str, str],
    names: tuple[str, str],
) -> None:
    """Both heads beside each other, between the words of the open text."""
    shown = [data.head_picture(trace, site, *head) for trace, site, head in zip(read, both, heads, strict=True)]
    if max(max(picture.weights.shape) for picture in shown) > MOST_WORDS:
        message = "The text has more than {most_words} words; shorten it to see two heads side by side."
        frame.caption(message, most_words=MOST_WORDS)
        return
    with st.grid(2, min_column_width=430, gap="medium"):
        for number, (picture, label, name) in enumerate(zip(shown, labels, names, strict=True)):
            with st.container():
                terms.markdown(_("**{head}** of {model}", head=label, model=plain(name)))
                figure = matrix(
                    picture.weights,
                    np.sqrt(picture.weights),
                    row_labels(picture.queries.labels, rows_write=picture.rows_write),
                    token_labels(picture.keys.labels),
                    scale=WEIGHT_SCALE,
                    hover=f"{_('{query} attends to {key}', query='%{y}', key='%{x}')}<br>%{{customdata:.4f}}",
                )
                alt = _("Weights of {head} of {model} between words", head=label, model=name)
                frame.chart(figure, f"two-models-head-{number}", file_name("head", label, name), alt)
    is_forced = "decoder" in both[0] and "decoder" in both[1] and _writes(read)
    same = _("Both decoders read what the first model wrote.") if is_forced else ""
    said_of = dict.fromkeys(rows_said(trace, site) for trace, site in zip(read, both, strict=True))
    about = _("Rows are queries, columns keys; whole words, without special tokens.")
    terms.caption(in_a_row((about, *said_of, same)))


def _writes(read: "tuple[Trace, Trace]") -> bool:
    return all(written.CROSS in trace.sites for trace in read)
