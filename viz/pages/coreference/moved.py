"""Two models with the same heads over our sentences: which heads moved most, what they are for now, and where."""

from functools import partial
from typing import TYPE_CHECKING, Final

import streamlit as st

from viz.access import models
from viz.pages.coreference import data
from viz.selection.choices import ModelChoice
from viz.text import html
from viz.text.messages import _, in_a_row, plural, shown
from viz.text.metrics import JOBS
from viz.text.written import NamedHead, decimal, file_name, signed
from viz.ui import controls, frame, long_work, terms
from viz.ui.controls import plain

if TYPE_CHECKING:
    from model.analysis.metrics.head_jobs import HeadJob
    from model.analysis.metrics.head_metrics import HeadName
    from model.analysis.moved_heads import MovedHeads

#: Heads that are listed.
NAMED: Final = 10


def show(compared: tuple[ModelChoice, ModelChoice], names: tuple[str, str]) -> None:
    """The part below two heads, measured when a person asks for it; nothing for models with other heads."""
    if not data.have_same_heads(*map(models.reader, compared)):
        return
    st.subheader(_("How far each head moved over a corpus"))
    task = data.moving(compared)
    label = plural("Read {count} sentence with both models", "Read {count} sentences with both models", task.total)
    found = long_work.outcome(task, label, key="moved-heads")
    if found is None:
        frame.caption(
            "For one model before and after fine-tuning or quantisation: each head is compared with itself, row by row."
        )
        return
    ranked = found.ranked()
    most, (low, high) = found.heads[ranked[0]], found.ends[ranked[0]]
    message = "**{head} moved most: {distance} bits ({low} – {high}).**"
    distance = decimal(found.distances[ranked[0]], 3)
    terms.markdown(_(message, head=_name(found, most), distance=distance, low=decimal(low, 3), high=decimal(high, 3)))
    if found.gain is not None:
        message = "Log-likelihood of a token in {second} minus {first}: {gain} nats ({low} to {high})."
        ends = {"gain": found.gain.value, "low": found.gain.low, "high": found.gain.high}
        written = {name: signed(value, 3) for name, value in ends.items()}
        terms.markdown(_(message, second=plain(names[1]), first=plain(names[0]), **written))
    with st.grid(2, min_column_width=430, gap="medium"):
        st.html(_moved_table(found, names))
        st.html(_examples(found, ranked[0]))
    about = _(
        "Mean Jensen–Shannon divergence of a head's rows in the two models, 0 to 1 bit, over {texts:,} sentences, with "
        "95% intervals by sentence. A head has a job if the interval of its metric reaches the threshold; “=”: the "
        "same in both models.",
        texts=len(found.texts),
    )
    skipped = plural("{count:,} text could not be compared.", "{count:,} texts could not be compared.", found.skipped)
    terms.caption(in_a_row((about, skipped if found.skipped else "")))
    controls.table_button(
        _("All heads in both models (CSV)"), partial(data.moved_table, found), file_name("moved", *names)
    )


def _moved_table(found: "MovedHeads", names: tuple[str, str]) -> str:
    changed = {change.head: (change.first, change.second) for change in found.changed_jobs()}
    columns = (
        html.Column(_("Head")),
        html.Column(_("Distance (bits)"), is_number=True),
        html.Column(_("Job in {model}", model=names[0])),
        html.Column(_("Job in {model}", model=names[1])),
    )
    rows = []
    for at in found.ranked()[:NAMED]:
        low, high = found.ends[at]
        distance = f"{decimal(found.distances[at], 3)} ({decimal(low, 3)} – {decimal(high, 3)})"
        jobs = [_job(job) for job in changed[found.heads[at]]] if found.heads[at] in changed else ["=", "="]
        rows.append((_name(found, found.heads[at]), distance, *jobs))
    return html.table(columns, rows, label=_("The heads that moved most"))


def _name(found: "MovedHeads", head: "HeadName") -> NamedHead:
    return NamedHead(*head, with_site=len(found.rows) > 1)


def _job(job: "HeadJob | None") -> str:
    return "–" if job is None else shown(JOBS[job.metric].name)


def _examples(found: "MovedHeads", at: int) -> str:
    """A text from each tenth of all by how far a head moved in it."""
    columns = (html.Column(_("Distance (bits)"), is_number=True), html.Column(_("A sentence from each decile")))
    rows = [(decimal(found.of_texts[text, at], 3), found.texts[text]) for text in reversed(found.deciles(at))]
    return html.table(columns, rows, label=_("Sentences by how far this head moved, most first"))
