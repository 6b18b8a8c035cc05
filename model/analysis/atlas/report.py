"""An atlas as a table of text, or as plain data. Knows nothing of how it was made."""

import math
from typing import Any

from model.analysis.atlas.measure import AER, Atlas
from model.analysis.metrics.head_names import ranked
from model.nn.transformer import SITES


def atlas_report(atlas: Atlas) -> str:
    """For every metric and site the head with the highest value, of error rates the lowest."""
    lines = [f"{len(atlas.texts)} sentences, {sum(atlas.skipped.values())} skipped; layers and heads from 0"]
    lines += [f"  skipped {count}: {reason}" for reason, count in atlas.skipped.items()]
    lines += ["", f"{'':<18}" + "".join(f"{site:>30}" for site in SITES)]
    for name, table in atlas.metrics.items():
        is_error = name.endswith(AER)
        best = {one.place.site: one for one in reversed(ranked(-table if is_error else table))}
        cells = []
        for site in SITES:
            value = "" if site not in best else f"{abs(best[site].value):.3f}"
            where = "" if site not in best else f"layer {best[site].place.layer}, head {best[site].place.head}"
            cells.append(f"{where:>22}{value:>8}")
        lines.append(f"{name + (' (lowest)' if is_error else ''):<18}" + "".join(cells))
    return "\n".join(lines)


def atlas_dict(atlas: Atlas) -> dict[str, Any]:
    """Plain data, for JSON: site → [layer][head], metrics with 4 digits, null where one means nothing."""
    return {
        "model": atlas.model,
        "corpus": atlas.corpus,
        "sentences": len(atlas.texts),
        "skipped": dict(atlas.skipped),
        "figures": {name: _by_site(table.tolist()) for name, table in atlas.metrics.items()},
        "rows": {name: dict(zip(SITES, rows, strict=True)) for name, rows in atlas.rows.items()},
        "strongest": {name: dict(zip(SITES, table.tolist(), strict=True)) for name, table in atlas.strongest.items()},
        "map": _by_site(atlas.places.tolist()),
    }


def _by_site(values: list[Any]) -> dict[str, Any]:
    return dict(zip(SITES, map(_rounded, values), strict=True))


def _rounded(value: Any) -> Any:
    if isinstance(value, list):
        return [_rounded(one) for one in value]
    return None if math.isnan(value) else round(value, 4)
