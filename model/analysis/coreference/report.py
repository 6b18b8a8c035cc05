"""Coreference scores as plain data for JSON and as a table of text. Knows nothing of how they came about."""

from typing import Any

from model.analysis.coreference.measure_translator import ContrastScores, CoreferenceScores
from model.analysis.coreference.scores import HeldOutHead, SiteScores
from model.analysis.metrics.bootstrap import Estimate

SITE_NAMES = {
    "encoder.self": "encoder.self, from the pronoun",
    "decoder.cross": "decoder.cross, from the row that predicts the German pronoun",
}
DIGITS = 4


def coreference_json(scores: CoreferenceScores) -> dict[str, Any]:
    """All figures as plain data; layers and heads from 0, `head` is null for rollout, which has none.

    `rows` and `baselines` are those of the first site; each site has its own under `sites`, because it may score fewer.
    """
    sites = {name: _site(site, dict(scores.unscored[name])) for name, site in scores.sites.items()}
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


def _heads(site: SiteScores) -> list[dict[str, Any]]:
    """One object a head; `margin_low` and the like are ends of 95 % intervals, as `low` and `high` of the accuracy."""
    heads = []
    layers, count = site.accuracy.value.shape
    for layer in range(layers):
        for head in range(count):
            accuracy, low, high = _rounded(site.accuracy, layer, head)
            margin, margin_low, margin_high = _rounded(site.margin, layer, head)
            heads.append(
                {
                    "site": site.site,
                    "layer": layer,
                    "head": None if site.measure == "rollout" else head,
                    "accuracy": accuracy,
                    "low": low,
                    "high": high,
                    "margin": margin,
                    "margin_low": margin_low,
                    "margin_high": margin_high,
                    "strongest_word": _rounded(site.strongest_word, layer, head)[0],
                    "reverse": None if site.reverse is None else _rounded(site.reverse, layer, head)[0],
                }
            )
    return heads


def _site(site: SiteScores, skipped: dict[str, int]) -> dict[str, Any]:
    baselines = {name: round(value, DIGITS) for name, value in vars(site.baselines).items()}
    return {
        "rows": len(site.cases),
        "skipped_because": skipped,
        "baselines": baselines,
        "head_averaged": [round(value, DIGITS) for value in site.head_averaged.tolist()],
        "best_head": {**_named(site, *site.best), "accuracy": _rounded(site.accuracy, *site.best)[0]},
        "held_out": [_held_out(site, one) for one in site.held_out],
        "cross_selected": None if site.cross_selected is None else round(site.cross_selected, DIGITS),
        "controls": 0 if site.controls is None else site.controls.rows,
    }


def _named(site: SiteScores, layer: int, head: int) -> dict[str, int | None]:
    return {"layer": layer, "head": None if site.measure == "rollout" else head}


def _held_out(site: SiteScores, one: HeldOutHead) -> dict[str, Any]:
    accuracy, low, high = _rounded(one.accuracy)
    gain, gain_low, gain_high = _rounded(one.gain)
    return {
        **_named(site, *one.head),
        "chosen_on_half": one.chosen_on,
        "rows": one.rows,
        "accuracy": accuracy,
        "low": low,
        "high": high,
        "nearest": round(one.nearest, DIGITS),
        "gain": gain,
        "gain_low": gain_low,
        "gain_high": gain_high,
        "beats_nearest": one.beats_nearest,
    }


def _contrast(contrast: ContrastScores) -> dict[str, float | int]:
    accuracy, low, high = _rounded(contrast.accuracy)
    margin, margin_low, margin_high = _rounded(contrast.margin)
    return {
        "rows": len(contrast.cases),
        "accuracy": accuracy,
        "low": low,
        "high": high,
        "margin": margin,
        "margin_low": margin_low,
        "margin_high": margin_high,
    }


def _rounded(estimate: Estimate, *place: int) -> tuple[float, float, float]:
    value, low, high = estimate.at(*place)
    return round(value, DIGITS), round(low, DIGITS), round(high, DIGITS)


def coreference_report(name: str, scores: CoreferenceScores) -> str:
    """All figures of `python -m model coreference` that fit in a table."""
    lines = [
        f"{name}: {len(scores.cases)} rows read, {scores.skipped_rows} skipped; weights: {scores.measure}",
        *(f"  skipped {count}: {reason}" for reason, count in scores.skipped.items()),
    ]
    for site, skipped in scores.unscored.items():
        found = scores.sites.get(site)
        lines += ["", f"{SITE_NAMES[site]}: {0 if found is None else len(found.cases)} rows scored"]
        lines += [f"  not scored {count}: {reason}" for reason, count in skipped.items()]
        if found is not None:
            lines += _site_lines(found)
    if scores.contrast is not None:
        accuracy, low, high = scores.contrast.accuracy.at()
        lines += ["", f"The model prefers the right German pronoun in {accuracy:.1%} of {len(scores.contrast.cases)}"]
        lines[-1] += f" rows ({low:.1%} to {high:.1%}), by {scores.contrast.margin.at()[0]:.2f} nats on average"
    return "\n".join(lines)


def _site_lines(site: SiteScores) -> list[str]:
    """Baselines, a line per layer, then the best head and what a fair choice gives."""
    baselines = site.baselines
    lines = [
        f"Chance {baselines.chance:.4f}  nearest candidate {baselines.nearest:.4f}  first candidate "
        f"{baselines.first:.4f}  mean of all heads {baselines.mean_of_heads:.4f}",
        "Accuracy, antecedent before the other candidate; layers and heads from 0",
        f"layer{''.join(f'  head {head:<2}' for head in range(site.accuracy.value.size(1)))}  averaged",
    ]
    for layer, (row, averaged) in enumerate(
        zip(site.accuracy.value.tolist(), site.head_averaged.tolist(), strict=True)
    ):
        lines.append(f"{layer:>5}" + "".join(f"  {value:7.4f}" for value in row) + f"  {averaged:8.4f}")
    accuracy, low, high = site.accuracy.at(*site.best)
    lines.append(
        f"Best head: layer {site.best.layer}, head {site.best.head}: {accuracy:.4f} ({low:.4f} to {high:.4f}), "
        "chosen on these same rows, so too high"
    )
    for one in site.held_out:
        accuracy, low, high = one.accuracy.at()
        verdict = "above" if one.beats_nearest else "not reliably above"
        lines.append(
            f"Chosen on half {one.chosen_on}: layer {one.head.layer}, head {one.head.head}: {accuracy:.4f} "
            f"({low:.4f} to {high:.4f}) on the {one.rows} rows of the other, {verdict} the nearest candidate "
            f"({one.nearest:.4f})"
        )
    return lines
