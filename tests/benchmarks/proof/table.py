"""The comparison as Markdown. Knows what figures there are, nothing of how they were measured."""

import os
import platform
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final

import psutil

LABELS: Final = {
    "ours": "**Headlight**",
    "eager": "`transformers`, eager `output_attentions`",
    "lens": "TransformerLens, `run_with_cache`",
    "lens_patterns": "TransformerLens, patterns only",
    "head_view": "bertviz, head view",
    "model_view": "bertviz, model view",
}
PACKAGES: Final = ("torch", "transformers", "transformer-lens", "bertviz", "streamlit")
_HEAD: Final = (
    "| model | tokens | tool | forward + capture | peak memory | to the browser | first picture made | drawn |",
    "|---|--:|---|--:|--:|--:|--:|--:|",
)


@dataclass
class Results:
    """All that was measured of one contender with one model and one length.

    Attributes:
        rounds: the figures of each round.
        failure: how it failed, if it did.
        drawn: seconds until its first picture stood in the browser; or why there is none.
    """

    rounds: list[Mapping[str, Any]] = field(default_factory=list)
    failure: str = ""
    drawn: float | str = ""

    def median(self, name: str) -> float | None:
        """The median over the rounds; None for what is not measured of this contender."""
        values = [float(figures[name]) for figures in self.rounds if name in figures]
        return statistics.median(values) if values else None

    def ratio(self, one: str, other: str) -> float | None:
        """The median of the ratios of two figures of the same process."""
        ratios = [figures[one] / figures[other] for figures in self.rounds if one in figures and other in figures]
        return statistics.median(ratios) if ratios else None


#: Model, tokens, contender → what was measured.
Measured = Mapping[tuple[str, int, str], Results]


def row(model: str, tokens: int, contender: str, results: Results) -> list[str]:
    """One row of the table, preceded for us by one of the plain pass."""
    begin = f"| {model} | {tokens:,} | {LABELS[contender]} |"
    if results.failure:
        return [f"{begin} {results.failure} | – | – | – | – |"]
    seconds = _seconds(results.median("seconds"))
    if (ratio := results.ratio("seconds", "plain_seconds")) is not None:
        seconds += f" ({ratio:.2f} × plain)"
    drawn = results.drawn if isinstance(results.drawn, str) else _seconds(results.drawn)
    cells = (seconds, _bytes(results.median("memory")), _bytes(results.median("bytes")))
    rows = [f"{begin} {' | '.join(cells)} | {_seconds(results.median('picture'))} | {drawn or '–'} |"]
    if results.median("plain_seconds") is not None:
        plain = f"{_seconds(results.median('plain_seconds'))} | {_bytes(results.median('plain_memory'))}"
        rows.insert(0, f"| {model} | {tokens:,} | plain fused pass, nothing kept | {plain} | – | – | – |")
    return rows


def goals(measured: Measured, shapes: Sequence[str], lengths: Sequence[int]) -> list[str]:
    """How far we are ahead of eager `output_attentions`, for each model and length that both managed."""
    lines = []
    for model in shapes:
        for tokens in lengths:
            ours, eager = (measured.get((model, tokens, name), Results()) for name in ("ours", "eager"))
            pairs = [(eager.median(name), ours.median(name)) for name in ("seconds", "memory")]
            found = [theirs / mine if theirs and mine else None for theirs, mine in pairs]
            if found[0] is not None and found[1] is not None:
                lines.append(
                    f"- {model}, {tokens:,} tokens: {found[0]:.1f} × faster and {found[1]:.1f} × less memory than eager"
                )
    return lines


def rest_of_ours(measured: Measured) -> list[str]:
    """What else was measured of us: the whole grid, an opened head, and what a trace holds."""
    lines = [
        "| model | tokens | text → first tiles | → whole grid | all tiles ÷ the plain pass | + one head open | + exact "
        "numbers | most memory on the way | q, k, v of the trace | peak of capture above the plain pass, × q, k, v |",
        "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for (model, tokens, contender), results in measured.items():
        if contender != "ours" or not results.rounds:
            continue
        above = [(one["memory"] - one["plain_memory"]) / one["held"] for one in results.rounds]
        tiles = [(one["grid"] - one["seconds"]) / one["plain_seconds"] for one in results.rounds]
        cells = (
            _seconds(results.median("picture")),
            _seconds(results.median("grid")),
            f"{statistics.median(tiles):.2f}",
            _seconds(results.median("head")),
            _seconds(results.median("zoom")),
            _bytes(results.median("picture_memory")),
            _bytes(results.median("held")),
            f"{statistics.median(above):.2f}",
        )
        lines.append(f"| {model} | {tokens:,} | {' | '.join(cells)} |")
    return lines


def machine(threads: int, command: str, rounds: int, loads: Sequence[float]) -> str:
    """What it was measured on."""
    memory = psutil.virtual_memory().total
    system = f"{platform.system()} {platform.release().partition('-')[0]}"
    return (
        f"{_processor()}, {os.cpu_count()} cores, {memory / 1e9:.0f} GB RAM, {threads} threads; {system}, "
        f"Python {platform.python_version()}, {', '.join(map(_versioned, PACKAGES))}. "
        f"Medians of {rounds}; load average {', '.join(f'{load:.1f}' for load in loads)} before and after each round. "
        f"`{command}`"
    )


def page(measured: Measured, about: str) -> str:
    """The whole comparison."""
    shapes = list(dict.fromkeys(model for model, _, _ in measured))
    lengths = list(dict.fromkeys(tokens for _, tokens, _ in measured))
    table = [line for shape_and_tokens, results in measured.items() for line in row(*shape_and_tokens, results)]
    parts = ([*_HEAD, *table], goals(measured, shapes, lengths), rest_of_ours(measured), [about])
    return "\n\n".join("\n".join(part) for part in parts if part) + "\n"


def _seconds(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value * 1e3:,.0f} ms" if value < 1 else f"{value:,.1f} s"


def _bytes(value: float | None) -> str:
    if value is None:
        return "–"
    if value < 1e6:
        return f"{max(0.0, value) / 1e3:,.0f} kB"
    return f"{value / 1e6:,.0f} MB" if value < 1e9 else f"{value / 1e9:,.2f} GB"


def _versioned(package: str) -> str:
    try:
        return f"{package} {version(package)}"
    except PackageNotFoundError:
        return f"no {package}"


def _processor() -> str:
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines() if Path("/proc/cpuinfo").exists() else []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.machine())
