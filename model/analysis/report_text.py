"""Print what was measured of heads as tables of text, for the command line; layers and heads from 0."""

from collections.abc import Iterable, Mapping, Sequence

from model.analysis.atlas.measure import AER, Atlas
from model.analysis.copied_words import CopyingScores
from model.analysis.coreference.held_out_pronouns import BEST_KNOWN, HeldOutScores
from model.analysis.coreference.measure import CoreferenceScores
from model.analysis.coreference.scores import SiteScores
from model.analysis.metrics.alignment import AlignmentScores
from model.analysis.metrics.error_rates import ErrorRates
from model.analysis.metrics.head_names import ranked
from model.nn.encoder_decoder import SITES

WAYS = {"word_in": "Word going in (the row that reads it)", "word_out": "Word coming out (the row that predicts it)"}
SITE_NAMES = {
    "encoder.self": "encoder.self, from the pronoun",
    "decoder.cross": "decoder.cross, from the row that predicts the German pronoun",
}


def alignment_report(name: str, scores: AlignmentScores) -> str:
    """What `python -m model align` prints."""
    lines = [
        f"{name}: {scores.rows} rows, {scores.skipped_rows} skipped; {scores.sure_links} sure links, "
        f"{scores.predicted_links} predicted",
        *_skipped(scores.skipped),
        "Alignment error rate of cross-attention heads, lower is better; layers and heads from 0",
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
        *_skipped(scores.skipped),
    ]
    for name_of_site, unscored in scores.unscored.items():
        site = scores.sites.get(name_of_site)
        lines += ["", f"{SITE_NAMES[name_of_site]}: {0 if site is None else len(site.cases)} rows scored"]
        lines += _skipped(unscored, "not scored")
        if site is not None:
            lines += _site_lines(site)
    if scores.contrast is not None:
        accuracy, low, high = scores.contrast.accuracy.at()
        lines += ["", f"The model prefers the right German pronoun in {accuracy:.1%} of {len(scores.contrast.cases)}"]
        lines[-1] += f" rows ({low:.1%} to {high:.1%}), by {scores.contrast.margin.at()[0]:.2f} nats on average"
    return "\n".join(lines)


def atlas_report(atlas: Atlas) -> str:
    """What `python -m model atlas` prints: for every metric and site the highest head, of error rates the lowest."""
    lines = [f"{len(atlas.texts)} sentences, {sum(atlas.skipped.values())} skipped; layers and heads from 0"]
    lines += [*_skipped(atlas.skipped), "", f"{'':<18}" + "".join(f"{site:>30}" for site in SITES)]
    for name, table in atlas.metrics.items():
        is_error = name.endswith(AER)
        best = {head.name.site: head for head in reversed(ranked(-table if is_error else table))}
        cells = []
        for site in SITES:
            value = "" if site not in best else f"{abs(best[site].value):.3f}"
            head = "" if site not in best else f"layer {best[site].name.layer}, head {best[site].name.head}"
            cells.append(f"{head:>22}{value:>8}")
        lines.append(f"{name + (' (lowest)' if is_error else ''):<18}" + "".join(cells))
    return "\n".join(lines)


def _skipped(counts: Mapping[str, int], what: str = "skipped") -> list[str]:
    return [f"  {what} {count}: {reason}" for reason, count in counts.items()]


def _layer_lines(heads: Iterable[Sequence[float]], averaged: Iterable[float]) -> list[str]:
    """A line per layer, a column per head and one for the mean of the layer's heads."""
    rows = list(heads)
    lines = [f"layer{''.join(f'  head {head:<2}' for head in range(len(rows[0])))}  averaged"]
    for layer, (row, mean) in enumerate(zip(rows, averaged, strict=True)):
        lines.append(f"{layer:>5}" + "".join(f"  {value:7.4f}" for value in row) + f"  {mean:8.4f}")
    return lines


def _error_rates(rates: ErrorRates) -> list[str]:
    """All heads, then the best head and what a fair choice gives."""
    lines = _layer_lines(rates.heads, rates.head_averaged)
    layer, head = rates.best_head
    lines.append(f"Best head: layer {layer}, head {head}: {rates.best:.4f} (chosen on these same rows)")
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
        "Accuracy, antecedent before the other candidate; layers and heads from 0",
        *_layer_lines(site.accuracy.value.tolist(), site.head_averaged.tolist()),
        f"Best head: layer {site.best.layer}, head {site.best.head}: {accuracy:.4f} ({low:.4f} to {high:.4f}), "
        "chosen on these same rows, so too high",
    ]
    for held_out in site.held_out:
        accuracy, low, high = held_out.accuracy.at()
        verdict = "above" if held_out.beats_nearest else "not reliably above"
        lines.append(
            f"Chosen on half {held_out.chosen_on}: layer {held_out.head.layer}, head {held_out.head.head}: "
            f"{accuracy:.4f} ({low:.4f} to {high:.4f}) on the {held_out.rows} rows of the other, {verdict} the nearest "
            f"candidate ({held_out.nearest:.4f})"
        )
    return lines
