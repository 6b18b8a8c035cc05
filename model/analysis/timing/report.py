"""How well heads keep time: text for the command line (layers and heads from 1), or data for JSON (from 0)."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from model.analysis.metrics.estimates import Estimate
from model.analysis.metrics.head_metrics import LayerHead
from model.analysis.report import head_label, interval
from model.analysis.timing.scores import FoundSet, Timing, TimingScores

#: Field of `Timing` → what it is called.
_NUMBERS: Final[Mapping[str, str]] = {"error": "error", "lag": "lag", "without_lag": "error less lag"}


def timing_report(name: str, scores: TimingScores) -> str:
    """What `python -m model timing` prints: heads by their error, sets of heads, and what transformers takes."""
    lines = [
        f"{name}: {scores.sounds} sounds, {scores.words} words scored; {scores.left_out} given words left out (first "
        "in their sound, or written otherwise)",
        "Seconds from the given word starts to those that a head gives: medians with 95 % intervals. A lag above 0 is "
        "late; error less lag: with the lag of the other half of the sounds taken off",
        "",
        f"{'':<28}" + "".join(f"{label:^28}" for label in _NUMBERS.values()),
    ]
    own = "own set of the model"
    order = scores.each.error.value.argsort().tolist()
    lines += [
        _row(f"{head_label(*scores.heads[at])}{' *' if scores.heads[at] in scores.own_heads else ''}", scores.each, at)
        for at in order
    ]
    lines += [_row("words spread evenly", scores.evenly)]
    if scores.own is not None:
        lines += [_row(own, scores.own), f"* in the {own}, alignment_heads = {as_setting(scores.own_heads)}"]
    for found in scores.found:
        lines += ["", f"Found on half {found.chosen_on}: alignment_heads = {as_setting(found.heads)}"]
        lines.append(_row("  on the other half", found.timing))
        lines += [f"  {line}" for line in _gain_lines(found)]
    if not scores.found:
        lines += ["", "No set was searched for: the sounds are too few for two halves."]
    return "\n".join(lines)


def _gain_lines(found: FoundSet) -> Iterable[str]:
    for what, gain in (("", found.gain), (" less lag", found.gain_without_lag)):
        if gain is not None:
            value, low, high = gain.at()
            verdict = "better" if low > 0 else "worse" if high < 0 else "no gain that could be told from none"
            by = f"{value:.3f} ({low:.3f} to {high:.3f})"
            yield f"error{what} below that of the model's own alignment heads by {by}: {verdict}"


def _row(label: str, timing: Timing, at: int = 0) -> str:
    cells = (getattr(timing, name).at(at) for name in _NUMBERS)
    return f"{label:<28}" + "".join(f"{value:>9.3f} ({low:.3f} to {high:.3f})".ljust(28) for value, low, high in cells)


def as_setting(heads: Iterable[LayerHead]) -> list[list[int]]:
    """Heads as `alignment_heads` of a `generation_config.json` lists them: layer and head, from 0."""
    return [[head.layer, head.head] for head in heads]


def timing_json(scores: TimingScores) -> dict[str, Any]:
    """All numbers of all heads and sets."""
    return {
        "sounds": scores.sounds,
        "words": scores.words,
        "left_out": scores.left_out,
        "heads": [{**head._asdict(), **_timing(scores.each, at)} for at, head in enumerate(scores.heads)],
        "evenly": _timing(scores.evenly),
        "own": None if scores.own is None else {"heads": as_setting(scores.own_heads), **_timing(scores.own)},
        "found": [
            {
                "chosen_on_half": found.chosen_on,
                "heads": as_setting(found.heads),
                **_timing(found.timing),
                "gain": _gain(found.gain),
                "gain_without_lag": _gain(found.gain_without_lag),
            }
            for found in scores.found
        ],
    }


def _timing(timing: Timing, at: int = 0) -> dict[str, dict[str, float]]:
    return {name: interval("value", "", getattr(timing, name), (at,)) for name in _NUMBERS}


def _gain(gain: Estimate | None) -> dict[str, float] | None:
    return None if gain is None else interval("value", "", gain)
