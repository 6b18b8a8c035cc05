"""Why induction heads find their key, and what is left of them without heads that look one token back.

    python -m tests.benchmarks.induction_heads MODEL [--draws N]

An induction head looks at what followed the token that it reads the last time (Olsson et al. 2022). Random tokens are
read twice; at rows of the second copy the score of that key, less the mean of all others, is split over parts at the
query and at the key (`model.analysis.reasons.pairs`). Then the heads that look one back are switched off in turn.
"""

import argparse
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Final, NamedTuple

import torch

from model.analysis.metrics.repeated_tokens import SITE, TOKENS, common_tokens, is_decoder, repeated_tokens
from model.analysis.reasons.held_run import Part
from model.analysis.reasons.pairs import pairs
from model.analysis.reasons.report import part_label
from model.analysis.reasons.score import Question, explain
from model.nn.edits import SwitchOff
from model.opening import as_chooser, open_reader
from model.reader import Reader
from model.trace.trace import Trace
from model.word_choice import Chooser, TokenPlace

#: Heads that are asked, those with the largest prefix matching; heads that are switched off, by the previous token.
ASKED: Final = 3
OFF: Final = 4
#: Rows of the second copy that are asked about.
ROWS: Final = (5, 14, 23)


class Found(NamedTuple):
    """Of one row: the part with the largest share at the key, and the largest pair of query and key."""

    key: Part
    share: float  #: of the score
    pair: tuple[Part, Part]


def trace_of(reader: Chooser, tokens: Sequence[int], off: tuple[int, int] | None = None) -> Trace:
    """A trace of these tokens, with one head switched off."""
    edits = None if off is None else [SwitchOff(SITE, *off)]
    return reader.trace_place(TokenPlace((), tuple(tokens), len(tokens) - 1), tokens[-1], edits)


def explained(reader: Reader, trace: Trace, head: tuple[int, int], row: int) -> Found:
    """Why this head finds its key from a row of the second copy."""
    key = row - TOKENS + 1
    rivals = [other for other in range(row + 1) if other != key]
    question = Question(site=SITE, layer=head[0], head=head[1], row=row, key=key, rival=rivals[0])
    table = pairs(explain(reader.parts, trace, question), rivals)
    total, of_keys = float(table.shares.sum()) + table.distance, table.shares.sum(0)
    largest = int(of_keys.argmax())
    ((query, at_key, _),) = table.largest(1)
    return Found(table.keys[largest], float(of_keys[largest]) / total, (query, at_key))


def weight_found(trace: Trace, head: tuple[int, int]) -> float:
    """The mean weight on the key that followed, over all rows of the second copy."""
    rows = range(TOKENS, 2 * TOKENS)
    weights = trace.weights(SITE, head[0], [head[1]], list(rows))[0]
    return sum(float(weights[number, row - TOKENS + 1]) for number, row in enumerate(rows)) / TOKENS


def main() -> None:
    """Print why each induction head finds its key, then its weight there without each head that looks one back."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("model", type=Path, help="folder of a decoder")
    parser.add_argument("--draws", type=int, default=4, help="sets of random tokens")
    arguments = parser.parse_args()
    reader = as_chooser(open_reader(arguments.model))
    assert is_decoder(reader)
    scores = repeated_tokens(reader, arguments.draws)
    heads_of = reader.abilities.heads[SITE][0]
    asked, previous = (
        [divmod(head, heads_of) for head in scores[name].topk(count).indices.tolist()]
        for name, count in (("prefix_matching", ASKED), ("repeat_previous", OFF))
    )
    looking = scores["repeat_previous"].view(-1, heads_of)
    print("look one back:", ", ".join(f"{_name(*head)} {float(looking[head]):.2f}" for head in previous))
    # Other draws than those by which the heads were chosen.
    generator, known = torch.Generator().manual_seed(1), common_tokens(reader)
    drawn = [known[torch.randperm(len(known), generator=generator)[:TOKENS]] for _ in range(arguments.draws)]
    texts = [tokens.repeat(2).tolist() for tokens in drawn]
    traces = [trace_of(reader, tokens) for tokens in texts]
    for head in asked:
        found = [explained(reader, trace, head, TOKENS + row) for trace in traces for row in ROWS]
        (key, count), *_ = Counter(each.key for each in found).most_common()
        shares = sorted(each.share for each in found if each.key == key)
        (pair, times), *_ = Counter(each.pair for each in found).most_common()
        print(
            f"{_name(*head)}: largest at the key {_part(key)} in {count} of {len(found)}, share {shares[0]:.2f} to "
            f"{shares[-1]:.2f}, median {median(shares):.2f}; largest pair {' × '.join(map(_part, pair))} in {times}"
        )
    print(f"{'weight on the key':<20}", *(f"{_name(*head):>8}" for head in asked))
    for off in (None, *previous):
        edited = traces if off is None else [trace_of(reader, tokens, off) for tokens in texts]
        weights = [sum(weight_found(trace, head) for trace in edited) / len(edited) for head in asked]
        name = "as it is" if off is None else f"without {_name(*off)}"
        print(f"{name:<20}", *(f"{weight:8.3f}" for weight in weights))


def _name(layer: int, head: int) -> str:
    return f"L{layer + 1} H{head + 1}"


def _part(part: Part) -> str:
    return part_label(part) if part.layer is None or part.head is None else _name(part.layer, part.head)


if __name__ == "__main__":
    main()
