"""Print what score functions and the layers of Table 1 cost on this machine, beside what the paper says of them."""

from collections.abc import Sequence

from model.analysis.layer_kinds.kinds import KINDS, PAPER_EXPONENTS, multiply_adds, sequential_steps
from model.analysis.layer_kinds.times import LayerTimes, crossing
from model.analysis.measured_cost import unsteadiness
from model.analysis.scoring.costs import ScoreCost, operations


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
