"""What the decoding page derives from a sentence, as tables: the lens, the beam's tree, samples, the cost of steps.

CSV as `viz.ui.trace_tables` writes it. Nodes have numbers as in addresses; logarithms are natural.
"""

from collections.abc import Iterator, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING

from viz.ui.trace_tables import Row, cell, digits, table

if TYPE_CHECKING:
    from model import BeamTree, SampledTranslation, StepCost
    from model.decoding.logit_lens import LogitLens


def lens(values: "LogitLens", read: Sequence[str]) -> bytes:
    """A row for each level, step and rank of a token; level 0 is what the first layer reads."""
    titles = ("level", "step", "token_read", "token_written", "written_probability", "written_rank", "entropy_nats")
    return table((*titles, "rank", "token_id", "token", "probability"), _lens_rows(values, read))


def _lens_rows(values: "LogitLens", read: Sequence[str]) -> Iterator[Row]:
    chosen, entropy = digits(values.chosen_probabilities.numpy()), digits(values.entropy.numpy())
    for level, of_level in enumerate(values.tokens):
        probabilities = digits(values.probabilities[level].numpy())
        for step, tokens in enumerate(of_level):
            tokens_there = (cell(read[step]), cell(values.chosen_tokens[step]))
            rank = int(values.chosen_ranks[level, step])
            there = (level, step, *tokens_there, chosen[level][step], rank, entropy[level][step])
            ids = values.token_ids[level, step].tolist()
            for candidate, (token_id, token) in enumerate(zip(ids, tokens, strict=True), start=1):
                yield (*there, candidate, token_id, cell(token), probabilities[step][candidate - 1])


def beam_nodes(tree: "BeamTree") -> bytes:
    """A row for each hypothesis that the search compared; `returned_rank` is 1 for the one it returned first."""
    titles = (
        "node", "parent", "step", "rank", "row", "token_id", "token", "log_prob", "total", "score", "fate", "fate_step",
        "returned_rank",
    )  # fmt: skip
    ranks = {node: rank for rank, node in enumerate(tree.hypotheses, start=1)}
    rows = (
        (
            node.index, _or_empty(node.parent), node.step, node.rank + 1, "" if node.row is None else node.row,
            node.token_id, cell(node.token), repr(node.log_prob), repr(node.total), _or_empty(node.score), node.fate,
            node.fate_step,
            _or_empty(ranks.get(node.index)),
        )
        for node in tree.nodes
    )  # fmt: skip
    return table(titles, rows)


def samples(drawn: "Sequence[SampledTranslation]") -> bytes:
    """A row for each translation that was drawn."""
    titles = ("sample", "text", "num_tokens", "log_prob", "filtered_log_prob")
    rows = (
        (number, cell(sample.text), len(sample.token_ids), repr(sample.log_prob), repr(sample.filtered_log_prob))
        for number, sample in enumerate(drawn)
    )
    return table(titles, rows)


def sampled_tokens(drawn: "Sequence[SampledTranslation]", vocabulary: Sequence[str]) -> bytes:
    """A row for each token of each translation that was drawn."""
    titles = ("sample", "step", "token_id", "token", "log_prob", "filtered_log_prob")
    rows = (
        (number, step, token_id, cell(vocabulary[token_id]), repr(own), repr(filtered))
        for number, sample in enumerate(drawn)
        for step, (token_id, own, filtered) in enumerate(
            zip(sample.token_ids, sample.log_probs, sample.filtered_log_probs, strict=True)
        )
    )
    return table(titles, rows)


def costs(steps: "Sequence[StepCost]") -> bytes:
    """A row for each step: rows computed and reused, and the multiply-adds of each part with the cache and without."""
    if not steps:
        return table(("step",), ())
    parts = [field.name for field in fields(steps[0].cached)]
    ways = ("cached", "recomputed")
    counted = ("new_target_rows", "reused_target_rows", "new_source_rows", "reused_source_rows", "reused_numbers")
    titles = ("step", *counted, *(f"{way}_{part}" for way in ways for part in (*parts, "total")))
    rows = (
        (
            number,
            *(getattr(step, name) for name in counted),
            *(getattr(getattr(step, way), part) for way in ways for part in (*parts, "total")),
        )
        for number, step in enumerate(steps)
    )
    return table(titles, rows)


def _or_empty(value: float | None) -> str:
    return "" if value is None else repr(value)
