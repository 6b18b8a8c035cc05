"""Set what ablations cost here beside what the paper measured."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final, Literal

from model.analysis.ablations.results import AblationResults, Spread, dev_sets, score_of
from model.training.ablations import ABLATIONS

Reading = Literal["worse", "better", "not told apart"]

#: BLEU on newstest2013 in Table 3 of Vaswani et al. 2017: rows (A) h = 1 and h = 16, (E), and (D) P_drop = 0.0 and
#: ε_ls = 0.0. The base model has 8 heads, d_model 512, 6 + 6 layers and post-norm. No row lacks positions or residuals.
PAPER: Final[Mapping[str, float]] = MappingProxyType(
    {"single-head": 24.9, "sixteen-heads": 25.8, "learned-positions": 25.7, "no-dropout": 24.6, "no-smoothing": 25.3}
)
PAPER_BASE: Final = 25.8


def paper_difference(preset: str) -> float | None:
    """BLEU of Table 3 less the base model's; None where the table has no such row."""
    return round(PAPER[preset] - PAPER_BASE, 1) if preset in PAPER else None


def told_apart(results: AblationResults, preset: str, sets: Sequence[str]) -> Reading | None:
    """Whether a preset is worse or better than the full model on every set by more than both deviations together.

    None of the full model itself, and where fewer than two seeds were measured.
    """
    pairs = [(score_of(results, preset, name), score_of(results, "full", name)) for name in sets]
    known = [(own, full) for own, full in pairs if own is not None and full is not None]
    if preset == "full" or not known or min(spread.runs for pair in known for spread in pair) < 2:
        return None
    signs = frozenset(_sign(own, full) for own, full in known)
    return "worse" if signs == {-1} else "better" if signs == {1} else "not told apart"


def ablations_report(results: AblationResults) -> str:
    """What `python -m model ablations` prints: a row for each preset that was trained."""
    sets = dev_sets(results)
    head = f"{'':<22}{'runs':>5}" + "".join(f"{'BLEU ' + name:>26}{'':>8}{'chrF':>14}" for name in sets)
    lines = [f"{head}{'tokens/s':>10}{'Table 3':>9}"]
    for preset in ABLATIONS:
        scores = [(score_of(results, preset, name), score_of(results, preset, name, "chrf")) for name in sets]
        if any(bleu is None for bleu, _ in scores):
            continue
        cells, count = "", 0
        for name, (bleu, chrf) in zip(sets, scores, strict=True):
            full = score_of(results, "full", name)
            less = "" if bleu is None or full is None or preset == "full" else f"{bleu.mean - full.mean:+.1f}"
            cells += f"{_shown(bleu):>26}{less:>8}{_shown(chrf):>14}"
            count = 0 if bleu is None else bleu.runs
        timed = results.tokens_per_second.get(preset)
        speed = "–" if timed is None else f"{timed:,.0f}"
        paper = paper_difference(preset)
        lines.append(f"{preset:<22}{count:>5}{cells}{speed:>10}{'–' if paper is None else f'{paper:+.1f}':>9}")
    lines += [
        "",
        *_reading(results, sets),
        "BLEU and chrF of greedy translations: mean ± standard deviation over seeds, and how far the mean is from the",
        "full model's. tokens/s: source and target tokens that a thread trains on in a second of processor time;",
        "– where that was not timed on the machine of the others.",
        f"Table 3: the paper's, on newstest2013, from its base model's {PAPER_BASE}; it has no row without positions",
        "or residual connections.",
    ]
    return "\n".join(lines)


def _reading(results: AblationResults, sets: Sequence[str]) -> list[str]:
    """What the table says: which presets are worse, better or no different than the full model, beyond the seeds."""
    kinds: dict[Reading, list[str]] = {"worse": [], "better": [], "not told apart": []}
    for preset in ABLATIONS:
        if (kind := told_apart(results, preset, sets)) is not None:
            kinds[kind].append(preset)
    names = {"not told apart": "within seed noise"}
    said = [f"  {names.get(kind, kind)}: {', '.join(presets)}" for kind, presets in kinds.items() if presets]
    heading = "Compared with the full model; a difference counts if it exceeds both deviations together on every set:"
    return [heading, *said, ""] if said else []


def _sign(own: Spread, full: Spread) -> int:
    """−1 where a mean is below another by more than both deviations together, 1 above, else 0."""
    difference, both = own.mean - full.mean, own.deviation + full.deviation
    return (difference > both) - (difference < -both)


def _shown(spread: Spread | None) -> str:
    if spread is None:
        return "–"
    return f"{spread.mean:.1f}" if spread.runs == 1 else f"{spread.mean:.1f} ± {spread.deviation:.1f}"
