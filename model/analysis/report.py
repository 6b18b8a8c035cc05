"""What was measured: text for the command line (layers and heads from 1, as in the app), or data for JSON (from 0)."""

import csv
import io
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any, Final

import numpy as np

from model.analysis.atlas.measure import AER, Atlas
from model.analysis.coreference.measure import ContrastScores, CoreferenceScores, HeldOutHead, SiteScores
from model.analysis.held_out import BEST_KNOWN, CopyingScores, HeldOutScores
from model.analysis.layer_kinds import KINDS, PAPER_EXPONENTS, LayerTimes, crossing, multiply_adds, sequential_steps
from model.analysis.measured_cost import unsteadiness
from model.analysis.metrics.alignment import AlignmentScores
from model.analysis.metrics.estimates import ErrorRates, Estimate
from model.analysis.metrics.head_metrics import HeadName, LayerHead, all_heads, ranked
from model.analysis.scoring import ScoreCost, operations
from model.arrays_file import Array
from model.nn.encoder_decoder import SITES

WAYS = {
    "word_in": "Token just read (the row that reads it)",
    "word_out": "Token being predicted (the row that predicts it)",
}
SITE_NAMES = {
    "encoder.self": "encoder.self, from the pronoun",
    "decoder.cross": "decoder.cross, from the row that predicts the German pronoun",
}


def alignment_report(name: str, scores: AlignmentScores) -> str:
    """What `python -m model align` prints."""
    lines = [
        f"{name}: {scores.rows} rows, {scores.skipped_rows} skipped; {scores.sure_links} sure links, "
        f"{scores.predicted_links} predicted",
        *skipped_lines(scores.skipped),
        "Alignment error rate of cross-attention heads, lower is better",
        f"Diagonal (baseline)  {scores.diagonal:.4f}",
    ]
    for way, rates in scores.ways.items():
        lines += ["", WAYS[way], *_error_rates(rates)]
    return "\n".join(lines)


def pronoun_report(scores: HeldOutScores) -> str:
    """What `python -m model pronouns` prints."""
    lines = [f"{'held out':<14}{'sentences':>10}{'right':>9}{'pairs':>8}{'both right':>12}"]
    lines += [
        f"{kind:<14}{score.cases:>10}{score.right:>9.1%}{score.pairs:>8}{score.both_right:>12.1%}"
        for kind, score in scores.kinds.items()
    ]
    for sentence, translation in scores.best_known.items():
        lines += ["", sentence, f"  {translation}  (expected: {BEST_KNOWN[sentence]})"]
    return "\n".join(lines)


def copying_report(scores: CopyingScores) -> str:
    """What `python -m model copying` prints: the shares, then every sentence that failed with its translation."""
    kinds = ", ".join(f"{kind} {share:.1%}" for kind, share in scores.kinds.items())
    lines = [
        f"{scores.sentences} sentences, everything copied in {scores.copied:.1%} ({kinds})",
        f"{scores.babbling} translations babble",
    ]
    for sentence, translation in scores.failures:
        lines += ["", sentence, f"  {translation}"]
    return "\n".join(lines)


def coreference_report(name: str, scores: CoreferenceScores) -> str:
    """What of `python -m model coreference` fits in a table."""
    lines = [
        f"{name}: {len(scores.cases)} rows read, {scores.skipped_rows} skipped; weights: {scores.measure}",
        *skipped_lines(scores.skipped),
    ]
    for name_of_site, unscored in scores.unscored.items():
        site = scores.sites.get(name_of_site)
        lines += ["", f"{SITE_NAMES[name_of_site]}: {0 if site is None else len(site.cases)} rows scored"]
        lines += skipped_lines(unscored, "not scored")
        if site is not None:
            lines += _site_lines(site)
    if scores.contrast is not None:
        accuracy, low, high = scores.contrast.accuracy.at()
        lines += ["", f"The model prefers the right German pronoun in {accuracy:.1%} of {len(scores.contrast.cases)}"]
        lines[-1] += f" rows ({low:.1%} to {high:.1%}), by {scores.contrast.margin.at()[0]:.2f} nats on average"
    return "\n".join(lines)


def atlas_report(atlas: Atlas) -> str:
    """What `python -m model atlas` prints: for every metric and site the highest head, of error rates the lowest."""
    lines = [f"{atlas.sentences} sentences, {sum(atlas.skipped.values())} skipped"]
    if atlas.held is not None:
        held = f"{np.nanmean(atlas.held):.3f}"
        lines.append(
            f"sinks are left out as keys of metrics of rows; they held {held} of the weight, on average over all heads"
        )
    lines += [*skipped_lines(atlas.skipped), "", f"{'':<18}" + "".join(f"{site:>30}" for site in SITES)]
    for name, table in atlas.metrics.items():
        is_error = name.endswith(AER)
        best = {head.name.site: head for head in reversed(ranked(-table if is_error else table))}
        cells = []
        for site in SITES:
            value = "" if site not in best else f"{abs(best[site].value):.3f}"
            head = "" if site not in best else head_label(best[site].name.layer, best[site].name.head)
            cells.append(f"{head:>22}{value:>8}")
        lines.append(f"{name + (' (lowest)' if is_error else ''):<18}" + "".join(cells))
    return "\n".join(lines)


def head_label(layer: int, head: int) -> str:
    """A head as people read it, from 1."""
    return f"layer {layer + 1}, head {head + 1}"


def skipped_lines(counts: Mapping[str, int], what: str = "skipped") -> list[str]:
    """One line for each reason, with how many."""
    return [f"  {what} {count}: {reason}" for reason, count in counts.items()]


def _layer_lines(heads: Iterable[Sequence[float]], averaged: Iterable[float]) -> list[str]:
    """A line per layer, a column per head and one for the mean of the layer's heads."""
    rows = list(heads)
    lines = [f"layer{''.join(f'  head {head:<2}' for head in range(1, len(rows[0]) + 1))}  averaged"]
    for layer, (row, mean) in enumerate(zip(rows, averaged, strict=True), start=1):
        lines.append(f"{layer:>5}" + "".join(f"  {value:7.4f}" for value in row) + f"  {mean:8.4f}")
    return lines


def _error_rates(rates: ErrorRates) -> list[str]:
    """All heads, then the best head and what a fair choice gives."""
    lines = _layer_lines(rates.heads, rates.head_averaged)
    lines.append(f"Best head: {head_label(*rates.best_head)}: {rates.best:.4f} (chosen on these same rows)")
    if rates.cross_selected is not None:
        lines.append(f"Best head chosen on the other half of the rows: {rates.cross_selected:.4f}")
    return lines


def _site_lines(site: SiteScores) -> list[str]:
    """Baselines, all heads, then the best head and what a fair choice gives."""
    baselines = site.baselines
    accuracy, low, high = site.accuracy.at(*site.best)
    lines = [
        f"Chance {baselines.chance:.4f}  nearest candidate {baselines.nearest:.4f}  first candidate "
        f"{baselines.first:.4f}  mean of all heads {baselines.mean_of_heads:.4f}",
        "Accuracy, antecedent before the other candidate",
        *_layer_lines(site.accuracy.value.tolist(), site.head_averaged.tolist()),
        f"Best head: {head_label(site.best.layer, site.best.head)}: {accuracy:.4f} ({low:.4f} to {high:.4f}), "
        "chosen on these same rows, so too high",
        *(f"  {name}: {value:.4f} in {rows} rows" for name, rows, value in _groups(site)),
    ]
    for held_out in site.held_out:
        accuracy, low, high = held_out.accuracy.at()
        verdict = "above" if held_out.beats_nearest else "not reliably above"
        lines.append(
            f"Chosen on half {held_out.chosen_on}: {head_label(held_out.head.layer, held_out.head.head)}: "
            f"{accuracy:.4f} ({low:.4f} to {high:.4f}) on the {held_out.rows} rows of the other, {verdict} the nearest "
            f"candidate ({held_out.nearest:.4f})"
        )
    return lines


DIGITS: Final = 4


def alignment_json(scores: AlignmentScores) -> dict[str, Any]:
    """Error rates of all heads, for either way of asking."""
    return {
        "rows": scores.rows,
        "skipped": scores.skipped_rows,
        "skipped_because": scores.skipped,
        "links": {"sure": scores.sure_links, "predicted": scores.predicted_links},
        "baselines": {"diagonal": round(scores.diagonal, DIGITS)},
        **{way: _error_rates_json(rates) for way, rates in scores.ways.items()},
    }


def pronoun_json(scores: HeldOutScores) -> dict[str, Any]:
    """Shares of right pronouns for every kind of thing that was held out."""
    return {**{kind: asdict(score) for kind, score in scores.kinds.items()}, "best_known": scores.best_known}


def copying_json(scores: CopyingScores) -> dict[str, Any]:
    """How often made-up words, names and numbers were copied, without the sentences."""
    return {name: value for name, value in asdict(scores).items() if name != "failures"}


def coreference_json(scores: CoreferenceScores) -> dict[str, Any]:
    """All metrics of all heads; `head` is null for rollout, which has none.

    `rows` and `baselines` are those of the first site; each site has its own under `sites`, because it may score fewer.
    """
    sites = {name: _site(site, scores.unscored[name]) for name, site in scores.sites.items()}
    first = next(iter(sites.values()))
    contrast = None if scores.contrast is None else _contrast(scores.contrast)
    return {
        "measure": scores.measure,
        "rows": first["rows"],
        "skipped": scores.skipped_rows,
        "skipped_because": dict(scores.skipped),
        "baselines": first["baselines"],
        "heads": [head for site in scores.sites.values() for head in _heads(site)],
        "contrast_accuracy": None if contrast is None else contrast["accuracy"],
        "contrast": contrast,
        "sites": sites,
    }


def atlas_json(atlas: Atlas) -> dict[str, Any]:
    """All tables as site → [layer][head], null where a metric means nothing."""
    return {
        "model": atlas.model,
        "corpus": atlas.corpus,
        "sentences": atlas.sentences,
        "skipped": dict(atlas.skipped),
        "origin": None if atlas.origin is None else {**atlas.origin._asdict(), "columns": list(atlas.origin.columns)},
        "figures": {name: _by_site(table.tolist()) for name, table in atlas.metrics.items()},
        "intervals": {name: _by_site(ends.tolist()) for name, ends in atlas.intervals.items()},
        "rows": {name: dict(zip(SITES, rows, strict=True)) for name, rows in atlas.rows.items()},
        "held_by_sinks": None if atlas.held is None else _by_site(atlas.held.tolist()),
        "strongest": {name: dict(zip(SITES, table.tolist(), strict=True)) for name, table in atlas.strongest.items()},
    }


def atlas_csv(atlas: Atlas) -> str:
    """Every metric of every head with the ends of its interval, a row for each head, as `heads_csv`."""
    ends = [f"{name} {end}" for name in atlas.intervals for end in ("low", "high")]
    tables = (*atlas.metrics.values(), *atlas.intervals.values())
    of_heads = (
        (head, np.concatenate([np.ravel(table[SITES.index(head.site), head.layer, head.head]) for table in tables]))
        for head in all_heads(atlas.heads)
    )
    return heads_csv((*atlas.metrics, *ends), of_heads)


def heads_csv(columns: Sequence[str], of_heads: Iterable[tuple[HeadName, Array]]) -> str:
    """Numbers of heads as CSV, a row for each head, counted from 1 as in the app; nothing for NaN.

    With a byte-order mark, without which Excel reads no umlaut; numbers with the digits that tell one float32 from the
    next.
    """
    file = io.StringIO(newline="")
    writer = csv.writer(file)
    writer.writerow(("site", "layer (from 1)", "head (from 1)", *columns))
    for head, numbers in of_heads:
        texts = ("" if np.isnan(number) else str(number) for number in numbers.astype(np.float32))
        writer.writerow((head.site, head.layer + 1, head.head + 1, *texts))
    return f"\ufeff{file.getvalue()}"


def _error_rates_json(rates: ErrorRates) -> dict[str, Any]:
    result: dict[str, Any] = {
        "heads": {str(layer): _numbered(row) for layer, row in enumerate(rates.heads)},
        "best_head": {**rates.best_head._asdict(), "aer": round(rates.best, DIGITS)},
        "head_averaged": _numbered(rates.head_averaged),
    }
    if rates.cross_selected is not None:
        first, second = (head._asdict() for head in rates.chosen)
        halves = {"chosen_on_first_half": first, "chosen_on_second_half": second}
        result["cross_selected"] = {"aer": round(rates.cross_selected, DIGITS), **halves}
    return result


def _numbered(values: Sequence[float]) -> dict[str, float]:
    return {str(i): round(value, DIGITS) for i, value in enumerate(values)}


def _heads(site: SiteScores) -> list[dict[str, Any]]:
    """One object a head."""
    layers, count = site.accuracy.value.shape
    return [
        {
            "site": site.site,
            **_named(site, head),
            **interval("accuracy", "", site.accuracy, head),
            **interval("margin", "margin_", site.margin, head),
            "strongest_word": round(float(site.strongest_word.value[*head]), DIGITS),
            "reverse": None if site.reverse is None else round(float(site.reverse.value[*head]), DIGITS),
        }
        for head in (LayerHead(i, j) for i in range(layers) for j in range(count))
    ]


def _site(site: SiteScores, skipped: Mapping[str, int]) -> dict[str, Any]:
    return {
        "rows": len(site.cases),
        "skipped_because": dict(skipped),
        "baselines": {name: round(value, DIGITS) for name, value in vars(site.baselines).items()},
        "head_averaged": [round(value, DIGITS) for value in site.head_averaged.tolist()],
        "best_head": {**_named(site, site.best), "accuracy": round(site.accuracy.at(*site.best)[0], DIGITS)},
        "held_out": [_held_out(site, held_out) for held_out in site.held_out],
        "cross_selected": None if site.cross_selected is None else round(site.cross_selected, DIGITS),
        "groups": {name: {"rows": rows, "accuracy": round(value, DIGITS)} for name, rows, value in _groups(site)},
        "controls": 0 if site.controls is None else site.controls.rows,
    }


def _groups(site: SiteScores) -> list[tuple[str, int, float]]:
    """Each kind of sentence that the file names: its rows, and the best head's accuracy in them."""
    rows = Counter(case.group for case in site.cases)
    return [(name, rows[name], float(of[*site.best])) for name, of in site.of_groups().items() if name]


def _named(site: SiteScores, head: LayerHead) -> dict[str, int | None]:
    return {"layer": head.layer, "head": None if site.measure == "rollout" else head.head}


def _held_out(site: SiteScores, held_out: HeldOutHead) -> dict[str, Any]:
    return {
        **_named(site, held_out.head),
        "chosen_on_half": held_out.chosen_on,
        "rows": held_out.rows,
        **interval("accuracy", "", held_out.accuracy),
        "nearest": round(held_out.nearest, DIGITS),
        **interval("gain", "gain_", held_out.gain),
        "beats_nearest": held_out.beats_nearest,
    }


def _contrast(contrast: ContrastScores) -> dict[str, float | int]:
    return {
        "rows": len(contrast.cases),
        **interval("accuracy", "", contrast.accuracy),
        **interval("margin", "margin_", contrast.margin),
    }


def interval(name: str, prefix: str, estimate: Estimate, head: tuple[int, ...] = ()) -> dict[str, float]:
    """An estimate, and the ends of its 95 % interval."""
    value, low, high = (round(number, DIGITS) for number in estimate.at(*head))
    return {name: value, f"{prefix}low": low, f"{prefix}high": high}


def _by_site(values: Sequence[Any]) -> dict[str, Any]:
    return dict(zip(SITES, map(rounded, values), strict=True))


def rounded(value: Any, digits: int = DIGITS) -> Any:
    """A number, or lists of numbers, as JSON has them: null for NaN."""
    if isinstance(value, list):
        return [rounded(inner, digits) for inner in value]
    return None if math.isnan(value) else round(value, digits)


def scores_report(costs: Sequence[ScoreCost], width: int) -> str:
    """The largest number of queries and keys that was measured: operations, time and memory of each function."""
    size = max(cost.size for cost in costs)
    lines = [
        f"Scores of {size:,} queries and {size:,} keys, d_k = {width}",
        f"{'':<12}{'on':<7}{'multiply-adds':>18}{'tanh':>14}{'ms':>12}{'÷ dot':>8}{'MB':>10}",
    ]
    dots = {cost.device: cost.measured.seconds for cost in costs if (cost.name, cost.size) == ("dot", size)}
    for cost in costs:
        if cost.size == size:
            counted, measured = operations(cost.name, size, width), cost.measured
            lines.append(
                f"{cost.name:<12}{cost.device:<7}{counted.multiply_adds:>18,}{counted.tanh:>14,}"
                f"{measured.seconds * 1e3:>12.3f}{measured.seconds / dots[cost.device]:>8.1f}"
                f"{measured.num_bytes / 1e6:>10.1f}"
            )
    return "\n".join(lines)


def layers_report(times: LayerTimes) -> str:
    """Table 1: each kind of layer at the largest n, with the exponents of n and d, the paper's and those fitted."""
    length, width = times.length, times.width
    lines = [
        f"One layer of {length:,} positions and {width} components; exponents fitted over n and over d",
        f"{'':<16}{'on':<7}{'multiply-adds':>18}{'in turn':>9}{'ms':>12}{'n^':>6}{'meas.':>7}{'d^':>6}{'meas.':>7}",
    ]
    devices = tuple(dict.fromkeys(time.device for time in times.over_length))
    for device in devices:
        for kind in KINDS:
            last = times.of(kind, device, over_length=True)[-1]
            exponents = [times.exponents(kind, device, over_length=over_length)[1] for over_length in (True, False)]
            fitted = "".join(
                f"{paper:>6}{measured:>7.1f}" for paper, measured in zip(PAPER_EXPONENTS[kind], exponents, strict=True)
            )
            lines.append(
                f"{kind:<16}{device:<7}{multiply_adds(kind, length, width, times.settings):>18,}"
                f"{sequential_steps(kind, length):>9,}{last.seconds * 1e3:>12.3f}{fitted}"
            )
        lines.append(_crossing(times, device))
    lines.append(
        f"k = {times.settings.kernel}, r = {times.settings.window}. The paper's exponents count what Table 1 counts: "
        "not the projections of attention."
    )
    return "\n".join(lines)


def steadiness_report(costs: Sequence[ScoreCost], times: LayerTimes) -> str:
    """How far the middle run was from the fastest: near 1 where nothing else ran."""
    layers = (*times.over_length, *times.over_width)
    measured = [*(cost.measured for cost in costs), *(layer.measured for layer in layers)]
    return f"Times are the least of several runs; the middle one took {unsteadiness(measured):.2f} times as long."


def _crossing(times: LayerTimes, device: str) -> str:
    attention, recurrent = (times.of(kind, device, over_length=True) for kind in ("self-attention", "recurrent"))
    found = crossing(attention, recurrent)
    by_count = f"self-attention and GRU, on {device}: by count they cross at n = {times.width}, "
    if found is None:
        return f"{by_count}by the clock not up to n = {times.length:,}"
    return by_count + (f"by the clock at n = {found:,.0f}" if found else "by the clock the GRU is faster at every n")
