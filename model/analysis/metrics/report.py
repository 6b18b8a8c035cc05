"""Scores of heads as a table of text. Knows nothing of how they came about."""

from model.analysis.coreference.held_out_pronouns import BEST_KNOWN, HeldOutScores
from model.analysis.metrics.alignment import AlignmentScores
from model.analysis.metrics.head_scores import HeadScores

WAYS = {"word_in": "Word going in (the row that reads it)", "word_out": "Word coming out (the row that predicts it)"}


def alignment_report(name: str, scores: AlignmentScores) -> str:
    """All figures of `python -m model align`."""
    lines = [
        f"{name}: {scores.rows} rows, {scores.skipped_rows} skipped; {scores.sure_links} sure links, "
        f"{scores.predicted_links} predicted",
        *(f"  skipped {count}: {reason}" for reason, count in scores.skipped.items()),
        "Alignment error rate of cross-attention heads, lower is better; layers and heads from 0",
        f"Diagonal (baseline)  {scores.diagonal:.4f}",
    ]
    for way, heads in scores.ways.items():
        lines += ["", WAYS[way], *head_table(heads)]
    return "\n".join(lines)


def pronoun_report(scores: HeldOutScores) -> str:
    """All figures of `python -m model pronouns`."""
    lines = [f"{'held out':<14}{'sentences':>10}{'right':>9}{'pairs':>8}{'both right':>12}"]
    lines += [
        f"{kind:<14}{one.cases:>10}{one.right:>9.1%}{one.pairs:>8}{one.both_right:>12.1%}"
        for kind, one in scores.kinds.items()
    ]
    for sentence, translation in scores.best_known.items():
        lines += ["", sentence, f"  {translation}  (expected: {BEST_KNOWN[sentence]})"]
    return "\n".join(lines)


def head_table(scores: HeadScores) -> list[str]:
    """A line per layer, then the best head and what a fair choice gives."""
    columns = "".join(f"  head {head:<2}" for head in range(len(scores.heads[0])))
    lines = [f"layer{columns}  averaged"]
    for layer, (row, averaged) in enumerate(zip(scores.heads, scores.head_averaged, strict=True)):
        lines.append(f"{layer:>5}" + "".join(f"  {value:7.4f}" for value in row) + f"  {averaged:8.4f}")
    layer, head = scores.best_head
    lines.append(f"Best head: layer {layer}, head {head}: {scores.best:.4f} (chosen on these same rows)")
    if scores.cross_selected is not None:
        lines.append(f"Best head chosen on the other half of the rows: {scores.cross_selected:.4f}")
    return lines
