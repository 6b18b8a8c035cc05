"""What people read about the jobs of heads: signs under tiles, names in titles, numbers with their intervals."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Final, NamedTuple

import streamlit as st
from numpy import ndindex

from viz.access import head_jobs, long_texts, models
from viz.access.head_jobs import HeadJobs
from viz.pictures.head_grid.component import TileJobs
from viz.selection import state
from viz.text import written
from viz.text.messages import Message, _, plural, said
from viz.text.written import NamedHead
from viz.theme import HEAD_COLOURS

if TYPE_CHECKING:
    from model import Trace
    from model.analysis.metrics.head_jobs import HeadJob


class JobName(NamedTuple):
    """What a job is called, and the sign and colour that stand for it under a tile."""

    name: Message
    sign: str
    colour: str


#: Metric → its job.
NAMES: Final[dict[str, JobName]] = {
    metric: JobName(name, sign, HEAD_COLOURS[colour])
    for metric, name, sign, colour in (
        ("antecedent", said("follows antecedents"), "↪", 1),
        ("aer_word_out", said("aligns token predicted"), "⇉", 2),
        ("aer_word_in", said("aligns token read"), "⇇", 6),
        ("previous", said("previous token"), "←", 0),
        ("same", said("same token"), "=", 5),
        ("next", said("next token"), "→", 3),
        ("induction", said("induction"), "↻", 4),
        ("prefix_matching", said("induction on repeated tokens"), "↻", 4),
        ("duplicate", said("duplicate token"), "≡", 6),
        ("first", said("first token"), "⇤", 7),
        ("last", said("last token"), "⇥", 7),
        ("punctuation", said("punctuation"), ".,", 5),
    )
}


def title(site: str, layer: int, head: int | None) -> str:
    """A head's name, as of `sites.head_label`, and its surest job: "L5 H2 · follows antecedents 0.71"."""
    return " · ".join([written.head_label(layer, head), *_known(site).words(layer, head, _named)])


def linked_title(site: str, layer: int, head: int | None, *, with_site: bool = False) -> str:
    """The same as Markdown, the name a link to the head; `with_site` it begins with that of the site."""
    name = written.head_label(layer, head, site if with_site else None)
    if head is not None:
        name = NamedHead(site, layer, head, with_site).link
    return " · ".join([name, *_known(site).words(layer, head, _named)])


def titles(site: str, shape: tuple[int, int]) -> tuple[str, ...]:
    """The title of each head of a site, layer by layer."""
    known = _known(site)
    return tuple(
        " · ".join([written.head_label(layer, head), *known.words(layer, head, _named)])
        for layer, head in ndindex(shape)
    )


def row_name(site: str, layer: int, head: int | None) -> str:
    """The name of a head, and the sign of its surest job: "L4 H2 · ↪"."""
    words = _known(site).words(layer, head, lambda job: NAMES[job.metric].sign)
    return " · ".join([written.head_label(layer, head), *words])


class _Known(NamedTuple):
    """What is known of the heads of a site of the chosen model: their jobs, and the one that was taught its own."""

    measured: HeadJobs | None
    taught: tuple[int, int] | None

    def words(self, layer: int, head: int | None, of_job: "Callable[[HeadJob], str]") -> list[str]:
        """Whether a head was taught, and its surest job, if it has any."""
        jobs = () if self.measured is None or head is None else self.measured.of_heads.get((layer, head), ())
        return [*([_("taught")] if self.taught == (layer, head) else []), *map(of_job, jobs[:1])]


def _known(site: str) -> _Known:
    choice = state.current().model
    return _Known(head_jobs.of_model(choice, site), models.taught_head(choice, site))


def show(trace: "Trace", site: str, layer: int, head: int) -> None:
    """What was measured of a head, in a line; of a model without an atlas in this sentence, if that is not long.

    Of a head that was taught what it shows, that comes first.
    """
    if models.taught_head(state.current().model, site) == (layer, head):
        show_taught(site)
    measured = head_jobs.of_model(state.current().model, site)
    if measured is None and not long_texts.is_long(trace, site):
        measured = head_jobs.in_sentence(trace, site)
    if measured is not None:
        st.caption(sentence(measured, layer, head))


def show_taught(site: str) -> None:
    """Of which head of a site training taught what it shows; nothing where there is none."""
    taught = models.taught_head(state.current().model, site)
    if taught is not None:
        message = (
            "**{head} was taught, not found:** an extra loss in training made it attend from “it” to its antecedent. "
            "Whether the translation uses the head is another question: switch it off under *Compare*, *Cause*."
        )
        taught_so = _(message, head=NamedHead(site, *taught).link)
        st.caption(taught_so)


def sentence(measured: HeadJobs, layer: int, head: int) -> str:
    """What was measured of one head, with the intervals behind it, or that it has no job."""
    jobs = measured.of_heads.get((layer, head), ())
    if not jobs:
        return _("Job, measured {where}: none. No metric of this head is high enough.", where=_where(measured))
    where = _where(measured)
    if any(job.metric == "antecedent" for job in jobs):
        where = _("{where}; “follows antecedents” over the curated pronoun sentences", where=where)
    listed = "; ".join(f"**{_(NAMES[job.metric].name)}** {job.value:.2f}{_interval(job)}" for job in jobs)
    if any(job.low is not None for job in jobs):
        return _("Job, measured {where}: {jobs}, in brackets the 95% interval.", where=where, jobs=listed)
    return _("Job, measured {where}: {jobs}.", where=where, jobs=listed)


def _where(measured: HeadJobs) -> str:
    """Over how many sentences jobs were measured, as a part of a sentence."""
    if not measured.sentences:
        return _("in this sentence only")
    return plural("over {count:,} sentence", "over {count:,} sentences", measured.sentences)


def on_tiles(measured: HeadJobs | None, shape: tuple[int, int]) -> TileJobs | None:
    """The surest job of each head for its tile; None where no head has one."""
    if measured is None or not measured.of_heads:
        return None
    layers, heads = shape
    surest = [measured.of_heads.get(divmod(index, heads), ())[:1] for index in range(layers * heads)]
    return TileJobs(
        tuple("".join(NAMES[job.metric].sign for job in jobs) for jobs in surest),
        tuple("".join(NAMES[job.metric].colour for job in jobs) for jobs in surest),
        tuple("".join(_named(job) for job in jobs) for jobs in surest),
        tuple("".join(_interval(job) for job in jobs) for jobs in surest),
    )


def signs_said(measured: HeadJobs | None) -> str:
    """What the signs under the tiles of a site stand for, those that are there; "" where there are none."""
    surest = {} if measured is None else {jobs[0].metric: None for _head, jobs in sorted(measured.of_heads.items())}
    listed = " · ".join(f"{NAMES[metric].sign} {_(NAMES[metric].name)}" for metric in surest)
    return _("The sign under a tile is the measured job of its head: {jobs}.", jobs=listed) if listed else ""


def _named(job: "HeadJob") -> str:
    return f"{_(NAMES[job.metric].name)} {job.value:.2f}"


def _interval(job: "HeadJob") -> str:
    if job.low is None or job.high is None:
        return ""
    return " " + _("({low:.2f} to {high:.2f})", low=job.low, high=job.high)
