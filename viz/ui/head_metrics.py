"""What people read about heads: their metrics, their jobs, and what the numbers of an open head are."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
from jaxtyping import Float
from numpy import ndindex

from viz.access import attention, findings, models
from viz.access.findings import HeadJobs
from viz.pictures.head_grid.component import HeadChoice, Ranking, TileJobs, TileMetric
from viz.selection import state
from viz.text import written
from viz.text.messages import _, plural, said, shown
from viz.text.metrics import JOBS, METRICS, OF_SENTENCES
from viz.text.written import CROSS, NamedHead
from viz.ui import terms

if TYPE_CHECKING:
    from model import Abilities, Trace
    from model.analysis.metrics.head_jobs import HeadJob


def labels() -> dict[str, str]:
    """Metric → its name, and first that there is none."""
    return {"": said("None"), **{key: METRICS[key].name for key in OF_SENTENCES}}


def tile_metric(key: str, site: str, values: Float[np.ndarray, "layer head"]) -> TileMetric | None:
    """A metric as the tiles carry it; None where no head has it."""
    if np.isnan(values).all():
        return None
    metric = METRICS[key]
    note = _(
        "{name}: {meaning}. Mean over all tokens with several visible keys. The longest bar is the highest of all "
        "heads, {highest}.",
        name=metric.name,
        meaning=metric.meaning_at(site),
        highest=metric.written(np.nanmax(values)),
    )
    return TileMetric(shown(metric.name), values, metric.decimals, shown(metric.unit), note)


def ranking(metric: TileMetric, order: str, keep: int) -> Ranking | None:
    """The heads by an order of `ORDERS`, equal ones by layer, NaN last; None for layer by layer.

    `keep` is how many are shown, 0 for all.
    """
    if order == "layers":
        return None
    values = metric.values.ravel()
    ranked = np.argsort(-values if order == "highest" else values, kind="stable")
    kept = ranked[: keep or None]
    heads = metric.values.shape[1]
    return Ranking(
        tuple(HeadChoice(*divmod(int(index), heads)) for index in kept), _order_note(order, len(kept), len(ranked))
    )


def _order_note(order: str, kept: int, count: int) -> str:
    """In which order so many of all heads stand, as a sentence."""
    few = _("the first {kept} of {count}", kept=kept, count=count) if kept < count else _("all {count}", count=count)
    if order == "highest":
        return _("Heads from the highest to the lowest, row by row: {few}. L2 H5 is head 5 of layer 2.", few=few)
    return _("Heads from the lowest to the highest, row by row: {few}. L2 H5 is head 5 of layer 2.", few=few)


@dataclass(frozen=True, slots=True)
class Measure:
    """A way to read a head."""

    label: str  #: on the control
    number: str  #: what one number is called
    #: meaning, formula: one sentence, and Markdown. Weights, which the first page shows, go without TeX: to set it, a
    #: browser first fetches 265 kB and three typefaces.
    meaning: str
    formula: str
    is_share: bool  #: whether numbers lie between 0 and 1, and a row of them sums to 1
    is_per_head: bool  #: whether every head has its own
    #: cross_meaning, cross_formula: what holds at cross-attention instead, where that is something else.
    cross_meaning: str = ""
    cross_formula: str = ""

    def explained_at(self, site: str) -> tuple[str, str]:
        """Meaning and formula as they hold at a site."""
        if site == CROSS and self.cross_meaning:
            return self.cross_meaning, self.cross_formula
        return self.meaning, self.formula


MEASURES: Final[Mapping[str, Measure]] = {
    "weights": Measure(
        label=said("Weights"),
        number=said("weight"),
        meaning=said("How a query distributes its attention over the keys it may see."),
        formula="αᵢⱼ = softmaxⱼ(qᵢ · kⱼ / √dₖ)",
        is_share=True,
        is_per_head=True,
    ),
    "norms": Measure(
        label=said("Norms"),
        number=said("norm"),
        meaning=said(
            "The norm of the vector that the head actually adds for a key: a large weight on a vector of small norm "
            "changes little (Kobayashi et al. 2020). The value bias is included. There is no upper bound, and rows do "
            "not sum to 1."
        ),
        formula=r"$\lVert \alpha_{ij}\,(x_j W_V + b_V)\,W_O \rVert$",
        is_share=False,
        is_per_head=True,
    ),
    "rollout": Measure(
        label=said("Rollout"),
        number=said("share"),
        meaning=said(
            "How much of each input token has reached a position through all layers up to this one, averaged "
            "over heads, if half of the weight stays in place in each layer (Abnar & Zuidema 2020)."
        ),
        formula=r"$R_\ell = \left(\tfrac{1}{2}\bar A_\ell + \tfrac{1}{2} I\right) R_{\ell-1},\quad R_0 = I$",
        is_share=True,
        is_per_head=False,
        cross_meaning=said(
            "How much of each source token this layer reads through cross-attention: its cross-attention weights, "
            "averaged over heads, times the rollout of the whole encoder (the rollout is by Abnar & Zuidema 2020; the "
            "last step is Headlight's)."
        ),
        cross_formula=r"$R_\ell = \bar A^{\,\mathrm{cross}}_\ell\, R^{\,\mathrm{encoder}}$",
    ),
}


#: Score function, by the name that it has in files → the score of a query and a key.
_SCORES: Final = {"dot": "qᵢ · kⱼ", "additive": "vᵀ tanh(qᵢ + kⱼ)", "general": "qᵢᵀ M kⱼ"}
#: Norms where what a head puts out is read as it is.
NORMS_WITHOUT_PROJECTION: Final = r"$\lVert \alpha_{ij}\, v_j \rVert$"


def weights_formula(score: str, *, is_scaled: bool) -> str:
    """How weights come about with this score function, divided by √d_k or not."""
    return f"αᵢⱼ = softmaxⱼ({_SCORES[score]}{' / √dₖ' if is_scaled else ''})"


def offered(abilities: "Abilities") -> tuple[str, ...]:
    """The measures that can be read of a model."""
    return tuple(name for name in MEASURES if name not in abilities.lacks)


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
    words = _known(site).words(layer, head, lambda job: JOBS[job.metric].sign)
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
    return _Known(findings.of_model(choice, site), models.taught_head(choice, site))


def show(trace: "Trace", site: str, layer: int, head: int, *, with_job: bool) -> None:
    """That a head was taught what it shows; its job, in a line: of a model without an atlas in this sentence, if that
    is not long.
    """
    if models.taught_head(state.current().model, site) == (layer, head):
        show_taught(site)
    if not with_job:
        return
    measured = findings.of_model(state.current().model, site)
    if measured is None and not attention.is_long(trace, site):
        measured = findings.in_sentence(trace, site)
    if measured is not None:
        terms.caption(sentence(measured, layer, head))


def show_taught(site: str) -> None:
    """Of which head of a site training taught what it shows; nothing where there is none."""
    taught = models.taught_head(state.current().model, site)
    if taught is not None:
        message = (
            "**{head} was taught, not found:** an extra loss in training made the head attend from “it” to the "
            "antecedent. Whether the translation uses the head is another question: switch it off under *Compare*, "
            "*Cause*."
        )
        taught_so = _(message, head=NamedHead(site, *taught).link)
        terms.caption(taught_so)


def sentence(measured: HeadJobs, layer: int, head: int) -> str:
    """What was measured of one head, with the intervals behind it, or that it has no job."""
    jobs = measured.of_heads.get((layer, head), ())
    if not jobs:
        return _("Job, measured {where}: none. No metric of this head is high enough.", where=_where(measured))
    where = _where(measured)
    if any(job.metric == "antecedent" for job in jobs):
        where = _("{where}; “follows antecedents” over the curated pronoun sentences", where=where)
    listed = "; ".join(f"**{_(JOBS[job.metric].name)}** {job.value:.2f}{_interval(job)}" for job in jobs)
    if any(job.low is not None for job in jobs):
        return _("Job, measured {where}: {jobs}, with the 95% interval in brackets.", where=where, jobs=listed)
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
        tuple("".join(JOBS[job.metric].sign for job in jobs) for jobs in surest),
        tuple("".join(JOBS[job.metric].colour for job in jobs) for jobs in surest),
        tuple("".join(_named(job) for job in jobs) for jobs in surest),
        tuple("".join(_interval(job) for job in jobs) for jobs in surest),
    )


def signs_said(measured: HeadJobs | None) -> str:
    """What the signs under the tiles of a site stand for, those that are there; "" where there are none."""
    surest = {} if measured is None else {jobs[0].metric: None for _head, jobs in sorted(measured.of_heads.items())}
    listed = " · ".join(f"{JOBS[metric].sign} {_(JOBS[metric].name)}" for metric in surest)
    return _("The symbol under a tile shows the measured job of its head: {jobs}.", jobs=listed) if listed else ""


def _named(job: "HeadJob") -> str:
    return f"{_(JOBS[job.metric].name)} {job.value:.2f}"


def _interval(job: "HeadJob") -> str:
    if job.low is None or job.high is None:
        return ""
    return " " + _("({low:.2f} to {high:.2f})", low=job.low, high=job.high)
