"""The table of all small models: BLEU and chrF over seeds, beside what is claimed of such models."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

import streamlit as st

from viz.pages.why_attention import tables
from viz.pages.why_attention.ablations import figures, texts
from viz.pages.why_attention.ablations.data import measured
from viz.pages.why_attention.ablations.data.measured import Row
from viz.text import html, messages
from viz.text.messages import _, plural, said
from viz.text.sites import file_name
from viz.ui import frame, number_controls

if TYPE_CHECKING:
    from model.analysis.ablations.results import AblationResults

COMMAND: Final = "python -m model ablations --data DIR --out checkpoints/experiments"
#: Parameters of the paper's base model (Table 3), and BLEU of both full models that others speak of.
PAPER_PARAMETERS: Final = 65e6
CLAIMED_FULL, PAPER_FULL = said("of 28.4"), said("of 25.8")
_LEGEND: Final = (
    (figures.SEED, said("a seed here")),
    (figures.CLAIMED, said("often claimed")),
    (figures.PAPER, said("Table 3")),
)


def show() -> None:
    """The table, its points, the file, and the command that makes it."""
    results = measured.results()
    if results is None:
        frame.note(
            _(
                "No results are in checkpoints/experiments/ablations.json. The command below measures all models "
                "that were trained and writes them there."
            )
        )
    else:
        _table(results)
    st.code(COMMAND, language="sh")
    st.caption(
        _(
            "This command prints the table. DIR is a folder with train/ and dev/, as "
            "checkpoints/experiments/README.md says; it also says how each model is trained: `python -m model train "
            "--preset NAME --seed S --data DIR`."
        )
    )


def _table(results: "AblationResults") -> None:
    rows = measured.rows(results)
    sets = tuple(dict.fromkeys(name for row in rows for name in row.sets))
    columns = [html.Column(_("Model"))]
    for name in sets:
        titles = (f"BLEU {name}", _("from full"), "chrF")
        columns += [html.Column(title, is_number=True) for title in titles]
    columns += [html.Column(title, is_number=True) for title in (_("tokens/s"), _("often claimed"), _("Table 3"))]
    with st.container(key="ablations-table"):
        st.html(html.table(columns, [_row(row, sets) for row in rows], label=_("What each part is worth")))
    st.caption(_how_to_read(results, rows, sets))
    with st.grid(2, min_column_width=330, gap="medium"):
        for name in sets:
            alt = _(
                "BLEU on {set} of each seed less that of the full model with the same seed, for every model", set=name
            )
            frame.chart(figures.seed_points(rows, name), f"ablation-points-{name}", file_name("ablations", name), alt)
    st.html(html.swatches(_LEGEND))
    number_controls.table_button(
        _("Every run (CSV)"), partial(tables.ablations, results), file_name("ablations", "runs")
    )


def _row(row: Row, sets: Sequence[str]) -> list[str]:
    cells = [texts.label(row.preset).replace(" ", "\u00a0")]
    for name in sets:
        of_set = row.sets.get(name)
        if of_set is None:
            cells += ["–"] * 3
            continue
        difference = "" if of_set.difference is None else texts.spread(*of_set.difference, is_difference=True)
        cells += [texts.spread(*of_set.bleu), difference, texts.spread(*of_set.chrf)]
    speed = "–" if row.tokens_per_second is None else f"{row.tokens_per_second:,.0f}"
    if row.preset == texts.FULL:
        return [*cells, speed, CLAIMED_FULL, PAPER_FULL]
    return [*cells, speed, *("–" if value is None else texts.signed(value) for value in (row.claimed, row.paper))]


def _how_to_read(results: "AblationResults", rows: Sequence[Row], sets: Sequence[str]) -> str:
    parameters = max(run.parameters for run in results.runs)
    seeds = {row.runs for row in rows}
    runs = f"{min(seeds)}" if len(seeds) == 1 else f"{min(seeds)} to {max(seeds)}"
    sentences = (
        plural(
            "Greedy translations by models of {millions:.2f} M parameters at most: mean ± standard deviation over "
            "{runs} seed; **from full** is the mean difference in BLEU from the full model of the same seed; "
            "**tokens/s** is what one thread trains on in a second of its processor.",
            "Greedy translations by models of {millions:.2f} M parameters at most: mean ± standard deviation over "
            "{runs} seeds; **from full** is the mean difference in BLEU from the full model of the same seed; "
            "**tokens/s** is what one thread trains on in a second of its processor.",
            max(seeds),
            millions=parameters / 1e6,
            runs=runs,
        ),
        _unscaled(rows, sets),
        _noise(rows, sets),
        _(
            "**Often claimed** is BLEU less than a full model's 28.4, as notes about the paper have it, with no "
            "source. **Table 3** is what the paper measured on newstest2013, less its base model's 25.8; it has no row "
            "without positions or residual connections. Both speak of a model that has been trained far longer, with "
            "{times:.0f} times as many parameters: compare the order of the rows, not the numbers.",
            times=PAPER_PARAMETERS / parameters,
        ),
    )
    return messages.in_a_row(sentences)


def _noise(rows: Sequence[Row], sets: Sequence[str]) -> str:
    """For which models seeds differ more than the models do."""
    if all(row.runs < 2 for row in rows):
        return _("With a single seed nothing says how far chance alone goes.")
    parts = []
    for name in sets:
        found = texts.within_spread(rows, name)
        listed = messages.with_commas(map(texts.label, found)) if found else _("no model")
        parts.append(_("on {set} for {models}", set=name, models=listed))
    return _("The spread over seeds is **larger than the difference** {where}.", where=_("; ").join(parts))


def _unscaled(rows: Sequence[Row], sets: Sequence[str]) -> str:
    """The model without √d_k has one head: it stands beside the one with a single head."""
    found = {row.preset: row for row in rows}
    if not {"unscaled", "single-head"} <= found.keys():
        return ""
    one, other = found["unscaled"].sets, found["single-head"].sets
    parts = [
        _("{difference} on {set}", difference=texts.signed(one[name].bleu[0] - other[name].bleu[0]), set=name)
        for name in sets
        if name in one.keys() & other.keys()
    ]
    return _(
        "**unscaled** has one head too, so √dₖ is the difference from **single head**: {differences}.",
        differences=messages.with_commas(parts),
    )
