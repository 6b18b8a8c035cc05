"""What was explained over a set: text for the command line (layers and heads from 1), or data for JSON (from 0)."""

from collections.abc import Mapping
from math import isnan
from typing import Any, Final

from model.analysis.metrics.estimates import Estimate
from model.analysis.reasons.held_run import Part
from model.analysis.reasons.mechanism import EXCHANGED
from model.analysis.reasons.over_set import ROLES, ReasonsOverSet, TwinPair
from model.analysis.report import DIGITS, head_label, interval, skipped_lines

#: Of a change, the smallest median of a sub-layer that is printed.
SMALLEST_SHARE: Final = 0.01
#: What is exchanged → how it is said.
_EXCHANGES: Final = dict(
    zip(
        EXCHANGED,
        ("the pronoun", "the words that differ", "the pronoun and the words that differ", "both candidates"),
        strict=True,
    )
)
#: Name of a number of `ReasonsOverSet.sentences` → what it is; {below}: the sub-layer that carries most.
SENTENCES: Final[Mapping[str, str]] = {
    "key_weight": "weight of the key in the text",
    "rival_weight": "weight of the rival in the twin",
    "query": "the query, of the change of the score",
    "below": "{below}, of the change of the score",
    "at_pronoun": "what it read at the pronoun, of the change of the score",
    "carried": "of this, read there at the words that differ by the encoder's self-attention, directly",
    "carried_on": "the same, with what feed-forward networks made of it",
    **{
        name.format(words): label.format(said)
        for words, said in _EXCHANGES.items()
        for name, label in {
            "{}, predicted": "the twin's memory at {}: predicted, of the change of the score",
            "{}, score": "the same, measured",
            "{}, word": "the same, measured, of the change of the word's log-odds",
        }.items()
    },
}


def reasons_report(name: str, found: ReasonsOverSet, example: tuple[TwinPair, ReasonsOverSet] | None) -> str:
    """What `python -m model reasons` prints; `example`: a pair that is told beside the set."""
    counted, query = found.followed, "each pair's most telling cell"
    if found.head is not None:
        query = f"{found.head.site}, {head_label(found.head.layer, found.head.head)}"
    lines = [
        f"{name}: {len(found.names)} pairs explained, {sum(found.skipped.values())} skipped; asked: {query}",
        *skipped_lines(found.skipped),
        f"The head follows in {sum(found.head_follows)} pairs, the word in {sum(found.word_follows)}, "
        f"what is counted below in {len(counted)}",
    ]
    if counted:
        lines += ["", f"{'Share of the change of the score (median and 95 % interval)':<60}"]
        lines += [
            f"  {label:<32}{value:>8.3f}  ({low:.3f} to {high:.3f})" for label, value, low, high in reasons_rows(found)
        ]
        lines += _mechanism_lines(found, example)
    return "\n".join(lines)


def reasons_rows(found: ReasonsOverSet) -> list[tuple[str, float, float, float]]:
    """What carries the change: the query, its sub-layers with a median of a hundredth or more, and the words read."""
    of_parts, of_roles = found.median(found.of_parts), found.median(found.of_roles)
    rows = [("query", *found.median(found.query).at())]
    for index in of_parts.value.abs().argsort(descending=True).tolist():
        if abs(of_parts.at(index)[0]) >= SMALLEST_SHARE:
            rows.append((part_label(found.parts[index]), *of_parts.at(index)))
    return rows + [(f"words: {role}", *of_roles.at(index)) for index, role in enumerate(ROLES)]


def part_label(part: Part) -> str:
    """A sub-layer as people read it: “decoder cross layer 4”."""
    where = "" if part.layer is None else f" layer {part.layer + 1}"
    return f"{part.stack or ''} {part.kind}{where}".strip()


def _mechanism_lines(found: ReasonsOverSet, example: tuple[TwinPair, ReasonsOverSet] | None) -> list[str]:
    """Each number of the mechanism: of the example, and over the pairs."""
    over_pairs, of_one = found.sentences(), {} if example is None else example[1].sentences()
    labels = {key: label.format(below=part_label(found.below)) for key, label in SENTENCES.items() if key in over_pairs}
    width = max(map(len, labels.values()))
    lines = ["", f"{'':<{width}}{'' if example is None else example[0].name:>10}  median over pairs, 95 % interval"]
    for key, label in labels.items():
        value, low, high = over_pairs[key].at()
        one = f"{of_one[key].at()[0]:.3f}" if key in of_one else ""
        lines.append(f"{label:<{width}}{one:>10}  {value:6.3f}  ({low:.3f} to {high:.3f})")
    if len(found.positions):
        lines += ["", f"Memory of one position from the twin, of {len(found.positions)} positions: predicted against "]
        lines[-1] += f"measured share of the score, r = {found.agreement:.3f}"
    if example is not None and _is_told(example[1]):
        pair, numbers = example
        odds = [f"{value:.2f}" for value in numbers.odds[0].tolist()]
        lines += ["", f"A: {pair.text}", f"B: {pair.twin}"]
        lines.append(f"Score in A {float(numbers.here[0]):.2f}, in B {float(numbers.there[0]):.2f}")
        exchanged = (
            f"  with B's memory at {said}  {value}" for said, value in zip(_EXCHANGES.values(), odds[2:], strict=True)
        )
        lines += [f"Log-odds of the two words in A {odds[0]}, with B's memory {odds[1]}", *exchanged]
    return lines


def reasons_json(found: ReasonsOverSet, example: tuple[TwinPair, ReasonsOverSet] | None = None) -> dict[str, Any]:
    """The table over the pairs that are counted, each pair, and one that is told beside the set."""
    counted = [found.names[at] for at in found.followed]
    of_parts = found.median(found.of_parts) if counted else None
    of_roles = found.median(found.of_roles) if counted else None
    return {
        "pairs": len(found.names),
        "skipped": sum(found.skipped.values()),
        "skipped_because": dict(found.skipped),
        "head": None if found.head is None else found.head._asdict(),
        "head_follows": sum(found.head_follows),
        "word_follows": sum(found.word_follows),
        "counted": counted,
        "query": interval("share", "", found.median(found.query)) if counted else None,
        "parts": []
        if of_parts is None
        else [
            {**part._asdict(), **interval("share", "", of_parts, (index,))}
            for index, part in enumerate(found.parts)
            if bool(found.of_parts[:, index].any())
        ],
        "words": {}
        if of_roles is None
        else {role: interval("share", "", of_roles, (index,)) for index, role in enumerate(ROLES)},
        "changes": {
            name: {"here": round(here, DIGITS), "there": round(there, DIGITS)}
            for name, here, there in zip(found.names, found.here.tolist(), found.there.tolist(), strict=True)
        },
        "below": found.below._asdict() if counted else None,
        "mechanism": _told(found.sentences()),
        "agreement": {
            "r": None if isnan(found.agreement) else round(found.agreement, DIGITS),
            "positions": len(found.positions),
        },
        "example": None if example is None else _example_json(*example),
    }


def _is_told(found: ReasonsOverSet) -> bool:
    """Whether the first pair's head and word both follow, so that it has log-odds."""
    return not found.odds[0].isnan().any()


def _told(sentences: Mapping[str, Estimate]) -> dict[str, dict[str, float]]:
    return {name: interval("value", "", estimate) for name, estimate in sentences.items()}


def _example_json(pair: TwinPair, found: ReasonsOverSet) -> dict[str, Any]:
    """A pair alone: its numbers are no medians."""
    ends = ("text", "twin", *EXCHANGED)
    return {
        "text": pair.text,
        "twin": pair.twin,
        "here": round(float(found.here[0]), DIGITS),
        "there": round(float(found.there[0]), DIGITS),
        "log_odds": dict(zip(ends, (round(each, DIGITS) for each in found.odds[0].tolist()), strict=True))
        if _is_told(found)
        else None,
        "mechanism": {name: round(estimate.at()[0], DIGITS) for name, estimate in found.sentences().items()},
    }
