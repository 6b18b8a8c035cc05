"""An atlas as one page for a colleague: what was read, what each head does with its interval, and where heads rest."""

import shlex
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
from markupsafe import Markup

from viz import theme
from viz.pages.atlas import data
from viz.pages.atlas.metric_texts import HeadMap, maps_of
from viz.pictures.offline import text_page
from viz.text import html, written
from viz.text.messages import _, in_a_row, plural, shown
from viz.text.metrics import JOBS, METRICS
from viz.text.templates import filled
from viz.text.written import SITES, decimal, head_label, percent

if TYPE_CHECKING:
    from model.analysis.atlas.measure import Atlas
    from model.analysis.metrics.head_jobs import HeadJob

_STYLE: Final = Path(__file__).with_name("report.css").read_text(encoding="utf-8")
#: Heads that are named for a metric, and characters of a sentence that is quoted.
NAMED, QUOTED = 3, 120


@dataclass(frozen=True)
class Cell:
    """A head in the grid of jobs."""

    title: str
    sign: str = ""
    colour: str = ""
    ink: str = ""


@dataclass(frozen=True)
class SiteReport:
    """What is said of the heads of one attention."""

    name: str
    summary: str  #: how many heads have a job, and which
    rests: str  #: how much weight lies where heads rest
    columns: tuple[str, ...]
    grid: tuple[tuple[str, tuple[Cell, ...]], ...]  #: a layer's name and its heads
    legend: str
    #: jobs, resting, metrics: tables.
    jobs: Markup
    resting: Markup
    metrics: Markup


def report(atlas: "Atlas", model: str) -> str:
    """The page as HTML, in the language that is spoken. `model`: its name or folder."""
    heads = sum(sum(of_layers) for of_layers in atlas.heads.values())
    title = _("What {heads:,} heads do over {texts:,} texts", heads=heads, texts=atlas.sentences)
    lead = _(
        "Every number is a mean over all rows of the corpus in which a head has several keys to choose from. “L5 H2” "
        "is head 2 of layer 5, counted from 1."
    )
    body = filled(
        "pages/atlas/report.html",
        title=title,
        lead=lead,
        facts=list(_facts(atlas, model)),
        command=_command(atlas, model),
        sites=[_of_site(atlas, site) for site in SITES if site in atlas.heads],
    )
    return text_page(title, body, _STYLE)


def _facts(atlas: "Atlas", model: str) -> Iterator[tuple[str, str]]:
    yield _("Model"), f"{model} ({atlas.model[:12]})"
    origin = atlas.origin
    if origin is None:
        yield _("Corpus"), atlas.corpus[:12]
    else:
        yield _("Corpus"), origin.name
        named = [name for name in origin.columns if name]
        if named:
            yield _("Column"), ", ".join(named)
        if origin.sample is not None and origin.sample < origin.rows:
            message = "{sample:,} of {rows:,} rows, drawn with seed {seed}"
            yield _("Random sample"), _(message, sample=origin.sample, rows=origin.rows, seed=origin.seed)
    yield _("Texts read"), f"{atlas.sentences:,}"
    for reason, count in atlas.skipped.items():
        yield _("Left out"), f"{count:,}: {shown(reason)}"
    if atlas.held is not None:
        message = (
            "left out as keys, and nothing is renormalised; on average over heads, sinks had {share} of the weight"
        )
        yield _("Sinks"), _(message, share=percent(float(np.nanmean(atlas.held))))
    rows = dict(zip(SITES, atlas.rows["confidence"], strict=True))
    counted = [f"{written.label(site)} {rows[site]:,}" for site in SITES if site in atlas.heads]
    yield _("Rows measured"), " · ".join(counted)


def _command(atlas: "Atlas", model: str) -> str:
    words = ["python", "-m", "model", "atlas", "--checkpoint", model]
    if (origin := atlas.origin) is not None:
        named = {"--text": origin.name, "--column": origin.columns.text, "--limit": origin.limit}
        named |= {"--translation-column": origin.columns.translation}
        if origin.sample is not None:
            named |= {"--sample": origin.sample, "--seed": origin.seed}
        words += [str(word) for option, value in named.items() if value not in ("", None) for word in (option, value)]
    words += [] if atlas.held is None else ["--without-sinks"]
    return shlex.join([*words, "--out", "atlas.npz"])


def _of_site(atlas: "Atlas", site: str) -> SiteReport:
    jobs = data.jobs_in(atlas, site)
    of_layers = atlas.heads[site]
    working = {head: of for head, of in jobs.items() if not data.is_rest(of[0].metric)}
    counted = Counter(shown(JOBS[of[0].metric].name) for of in working.values())
    named = ", ".join(f"{name} ({count})" for name, count in counted.most_common())
    total = sum(of_layers)
    summary = plural(
        "{count} of {total} heads has a job: {named}.", "{count} of {total} heads have a job: {named}.", len(working),
        total=total, named=named,
    ) if working else _("None of {total} heads has a job: no metric is high enough.", total=total)  # fmt: skip
    grid = tuple(
        (f"L{layer + 1}", tuple(_cell(layer, head, jobs) for head in range(count)))
        for layer, count in enumerate(of_layers)
    )
    present = dict.fromkeys(of[0].metric for of in jobs.values())
    return SiteReport(
        name=written.label(site),
        summary=summary,
        rests=_rests(atlas, site),
        columns=tuple(written.head_numbers(max(of_layers))),
        grid=grid,
        legend=" · ".join(f"{JOBS[metric].sign}\N{NO-BREAK SPACE}{shown(JOBS[metric].name)}" for metric in present),
        jobs=Markup(_jobs_table(atlas, site, working)),
        resting=Markup(_jobs_table(atlas, site, {head: of for head, of in jobs.items() if head not in working})),
        metrics=Markup(_metrics_table(atlas, site)),
    )


def _cell(layer: int, head: int, jobs: "Mapping[tuple[int, int], tuple[HeadJob, ...]]") -> Cell:
    name = head_label(layer, head)
    if (layer, head) not in jobs:
        return Cell(name)
    job = JOBS[jobs[layer, head][0].metric]
    return Cell(f"{name}: {shown(job.name)}", job.sign, job.colour, theme.ink_on(job.colour))


def _rests(atlas: "Atlas", site: str) -> str:
    """Where heads rest that have nothing to do: how much of the weight lies there, and how many heads rest."""
    maps = {each.key: each for each in maps_of(atlas, site, "weights")}
    shares = [
        f"{shown(JOBS[key].name)} {percent(float(np.nanmean(maps[key].values)))}"
        for key in data.rests_at(site)
        if key in maps
    ]
    if not shares:
        return ""
    resting = sum(data.is_rest(of[0].metric) for of in data.jobs_in(atlas, site).values())
    message = "Idle heads put their weight on sinks. Mean shares over all heads: {shares}; these may overlap."
    return in_a_row(
        (
            _(message, shares=", ".join(shares)),
            plural(
                "{count} head has most of its weight on sinks.",
                "{count} heads have most of their weight on sinks.",
                resting,
            ),
        )
    )


def _jobs_table(atlas: "Atlas", site: str, jobs: "Mapping[tuple[int, int], tuple[HeadJob, ...]]") -> str:
    columns = (
        html.Column(_("Head")),
        html.Column(_("Job")),
        html.Column(_("Value (95% interval)"), is_number=True),
        html.Column(_("Strongest sentence")),
    )
    # Heads that rest come last.
    ordered = sorted((data.is_rest(job.metric), job.metric, at, job) for at, of_head in jobs.items() for job in of_head)
    rows = []
    for _rests_there, key, (layer, head), job in ordered:
        places = atlas.strongest.get(key)
        place = -1 if places is None else int(places[SITES.index(site), layer, head, 0])
        text = atlas.texts[place] if place >= 0 else "–"
        quoted = text if len(text) <= QUOTED else f"{text[:QUOTED]}…"
        value = METRICS[key].written(job.value) + _ends(key, job.low, job.high)
        rows.append((head_label(layer, head), shown(JOBS[key].name), value, quoted))
    return html.table(columns, rows, label=_("Jobs of heads")) if rows else ""


def _ends(key: str, low: float | None, high: float | None) -> str:
    """An interval behind a number, if there is one."""
    if low is None or high is None or np.isnan(low):
        return ""
    return f" ({decimal(low, METRICS[key].decimals)} – {decimal(high, METRICS[key].decimals)})"


def _metrics_table(atlas: "Atlas", site: str) -> str:
    at = SITES.index(site)
    columns = [
        html.Column(_("Metric")),
        html.Column(_("Rows"), is_number=True),
        html.Column(_("Mean of heads"), is_number=True),
    ]
    columns += [html.Column(_("Best heads (95% interval)"))]
    rows = []
    for each in maps_of(atlas, site, "weights"):
        best = "; ".join(_best(atlas, site, each))
        mean = METRICS[each.key].written(float(np.nanmean(each.values)))
        rows.append((shown(METRICS[each.key].name), f"{atlas.rows[each.key][at]:,}", mean, best))
    return html.table(columns, rows, label=_("Metrics of all heads"))


def _best(atlas: "Atlas", site: str, of_heads: HeadMap) -> Iterator[str]:
    metric, ends = METRICS[of_heads.key], atlas.intervals.get(of_heads.key)
    order = np.argsort(of_heads.values if metric.is_error else -of_heads.values, axis=None, kind="stable")
    for index in order[:NAMED]:
        layer, head = map(int, np.unravel_index(index, of_heads.values.shape))
        value = of_heads.values[layer, head]
        if np.isnan(value):
            return
        low, high = (None, None) if ends is None else ends[SITES.index(site), layer, head]
        yield f"{head_label(layer, head)} {decimal(value, metric.decimals)}{_ends(of_heads.key, low, high)}"
