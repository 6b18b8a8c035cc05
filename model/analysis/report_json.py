"""Turn what was measured of heads into plain data for JSON: layers and heads from 0, numbers with 4 digits."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, Final

from model.analysis.atlas.measure import Atlas
from model.analysis.copied_words import CopyingScores
from model.analysis.coreference.held_out_pronouns import HeldOutScores
from model.analysis.coreference.measure import ContrastScores, CoreferenceScores
from model.analysis.coreference.scores import HeldOutHead, SiteScores
from model.analysis.metrics.alignment import AlignmentScores
from model.analysis.metrics.bootstrap import Estimate
from model.analysis.metrics.error_rates import ErrorRates
from model.analysis.metrics.head_names import LayerHead
from model.nn.encoder_decoder import SITES

DIGITS: Final = 4


def alignment_json(scores: AlignmentScores) -> dict[str, Any]:
    """Error rates of all heads, for either way of asking."""
    return {
        "rows": scores.rows,
        "skipped": scores.skipped_rows,
        "skipped_because": scores.skipped,
        "links": {"sure": scores.sure_links, "predicted": scores.predicted_links},
        "baselines": {"diagonal": round(scores.diagonal, DIGITS)},
        **{way: _error_rates(rates) for way, rates in scores.ways.items()},
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
        "sentences": len(atlas.texts),
        "skipped": dict(atlas.skipped),
        "figures": {name: _by_site(table.tolist()) for name, table in atlas.metrics.items()},
        "rows": {name: dict(zip(SITES, rows, strict=True)) for name, rows in atlas.rows.items()},
        "strongest": {name: dict(zip(SITES, table.tolist(), strict=True)) for name, table in atlas.strongest.items()},
        "map": _by_site(atlas.map_positions.tolist()),
    }


def _error_rates(rates: ErrorRates) -> dict[str, Any]:
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
            **_interval("accuracy", "", site.accuracy, head),
            **_interval("margin", "margin_", site.margin, head),
            "strongest_word": round(site.strongest_word.at(*head)[0], DIGITS),
            "reverse": None if site.reverse is None else round(site.reverse.at(*head)[0], DIGITS),
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
        "controls": 0 if site.controls is None else site.controls.rows,
    }


def _named(site: SiteScores, head: LayerHead) -> dict[str, int | None]:
    return {"layer": head.layer, "head": None if site.measure == "rollout" else head.head}


def _held_out(site: SiteScores, held_out: HeldOutHead) -> dict[str, Any]:
    return {
        **_named(site, held_out.head),
        "chosen_on_half": held_out.chosen_on,
        "rows": held_out.rows,
        **_interval("accuracy", "", held_out.accuracy),
        "nearest": round(held_out.nearest, DIGITS),
        **_interval("gain", "gain_", held_out.gain),
        "beats_nearest": held_out.beats_nearest,
    }


def _contrast(contrast: ContrastScores) -> dict[str, float | int]:
    return {
        "rows": len(contrast.cases),
        **_interval("accuracy", "", contrast.accuracy),
        **_interval("margin", "margin_", contrast.margin),
    }


def _interval(name: str, prefix: str, estimate: Estimate, head: tuple[int, ...] = ()) -> dict[str, float]:
    """A mean, and the ends of its 95 % interval."""
    value, low, high = (round(number, DIGITS) for number in estimate.at(*head))
    return {name: value, f"{prefix}low": low, f"{prefix}high": high}


def _by_site(values: Sequence[Any]) -> dict[str, Any]:
    return dict(zip(SITES, map(_rounded, values), strict=True))


def _rounded(value: Any) -> Any:
    if isinstance(value, list):
        return [_rounded(inner) for inner in value]
    return None if math.isnan(value) else round(value, DIGITS)
