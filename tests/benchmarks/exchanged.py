"""Why a head of a translator turns between two sentences, and what each word's memory of the other one does to it.

    python -m tests.benchmarks.exchanged MODEL TEXT TWIN [--cell LAYER HEAD ROW KEY RIVAL]

Prints how much of the change is in the query and in the keys, what the encoder read at the key, and what becomes of the
score and of the translation with the twin's memory at single words, predicted and measured. All numbers count from 1,
as on pages. Without a cell it is the most telling one. In the first layer of cross-attention nothing can be exchanged.
"""

import argparse
from itertools import combinations
from pathlib import Path

from model.analysis.reasons.cell import telling_cell
from model.analysis.reasons.held_run import Part
from model.analysis.reasons.score import Question, Reason, cancelling, explain
from model.analysis.reasons.twins import trace_twin
from model.analysis.reasons.without import Asked, as_it_is, outcomes
from model.opening import as_chooser, open_reader
from model.trace.trace import Trace

SITE = "decoder.cross"


def main() -> None:
    """Print the story of one cell."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("model", type=Path)
    parser.add_argument("text")
    parser.add_argument("twin")
    parser.add_argument("--cell", type=int, nargs=5, metavar=("LAYER", "HEAD", "ROW", "KEY", "RIVAL"))
    arguments = parser.parse_args()
    reader = as_chooser(open_reader(arguments.model))
    trace = reader.trace(arguments.text)
    twin = trace_twin(reader, trace, arguments.twin)
    if arguments.cell is None:
        asked = telling_cell(trace, twin)
        assert asked is not None, "no cell to ask about"
    else:
        layer, head, row, key, rival = (number - 1 for number in arguments.cell)
        asked = Question(site=SITE, layer=layer, head=head, row=row, key=key, rival=rival)
    reason = explain(reader.parts, trace, asked, twin)
    words = trace.source_tokens
    print(f"L{asked.layer + 1} H{asked.head + 1} after {trace.target_tokens[asked.row]}, off by {reason.error:.0e}")
    for name, of, q in (("text", trace, asked), ("twin", twin, reason.twin or asked)):
        weights = of.weights(q.site, q.layer, [q.head], [q.row])[0, 0].tolist()
        print(
            f"  {name}:",
            ", ".join(f"{word} {weight:.2f}" for word, weight in zip(of.source_tokens, weights, strict=True)),
        )
    assert reason.there is not None
    ends = f"score {reason.here:.2f}, in the twin {reason.there:.2f}"
    print(f"  {ends}: query {reason.query.total:.2f}, keys {reason.keys.total:.2f}")
    _keys(reason, trace)
    if not asked.layer:
        return
    reading = reason.query.follow(Part("cross", "decoder", asked.layer - 1))
    every = range(len(words))
    sets = [*((at,) for at in every), *combinations((asked.key, asked.rival), 2), tuple(every)]
    before = as_it_is(reader, reason)
    print(f"  {before.pair[0]} against {before.pair[1]}: as it is {before.log_odds:.2f}, {before.text}")
    for what, outcome in zip(sets, outcomes(reader, reason, [Asked(reading, what) for what in sets]), strict=True):
        names, run = " and ".join(words[at] for at in what), outcome.by_run
        print(
            f"  twin's memory at {names}: score predicted {outcome.predicted:.2f}, measured {run.score:.2f}; log-odds "
            f"{run.log_odds:.2f}, {run.text}"
        )


def _keys(reason: Reason, trace: Trace) -> None:
    """What the encoder's self-attention had read at key and rival, with what feed-forward networks made of it."""
    assert reason.twin is not None
    for here, there in ((reason.question.key, reason.twin.key), (reason.question.rival, reason.twin.rival)):
        step, read = reason.keys.at(here, there), dict[int, float]()
        shares = step.shares(through_networks=True)
        for part in shares:
            if part.kind == "self":
                for of_text in step.follow(part, through_networks=True).words():
                    for position, share in of_text.items():
                        read[position] = read.get(position, 0.0) + share
        words = ", ".join(f"{trace.source_tokens[position]} {share:.2f}" for position, share in read.items())
        total = f"keys at {trace.source_tokens[here]}: {step.total:.2f}"
        print(f"  {total}; read there: {words} (cancelling {cancelling([*shares.values()]):.1f})")


if __name__ == "__main__":
    main()
