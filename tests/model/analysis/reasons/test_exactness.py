"""The parts of a score add up to it in every kind of model; what cannot be split is refused in a sentence."""

import re
from collections.abc import Iterator

import pytest

from model.analysis.reasons.score import Question, align, explain, stacks_of
from model.errors import TraceError
from model.opening import open_reader
from model.reader import Reader
from model.trace.trace import Trace
from tests.model.adapters.zoo import random_reader
from tests.often import often
from tests.paths import ROOT

TEXT, TWIN, TARGET = "The animal was too tired.", "The animal was old.", "It was old."
#: Kind → what it has that others have not, of all that stands between parts and score.
EXACT = {
    "bert": "post-norm, norm of the embeddings, token types",
    "gpt2": "biases of all projections, learned positions",
    "llama": "rotary positions, RMS norms, grouped heads",
    "gemma2": "soft cap, norms of what sub-layers put out, window, scaled embeddings",
    "gemma3_text": "norms of queries and keys, RMS norms that hold a gain less 1",
    "gpt_neox": "rotary positions of a part of each query, parallel blocks with two norms",
    "phi": "parallel blocks with one norm",
    "granite": "sub-layers multiplied before they are added",
    "mixtral": "experts",
    "gpt_oss": "sinks, biases, experts",
    "olmo2": "norms of all queries at once, norms only of what sub-layers put out",
    "qwen3": "norms of each query and key, heads wider than the model",
    "ctrl": "one vector given as query, key and value",
    "t5": "relative bias, final norm before the memory, unscaled",
}
#: More of them, which share these mechanisms.
ALSO_EXACT = [
    *("albert", "camembert", "distilbert", "electra", "modernbert", "roberta", "xlm-roberta", "biogpt", "gemma"),
    *("bart", "mistral", "olmo", "opt", "phi3", "qwen2", "smollm3", "stablelm", "starcoder2", "blenderbot", "m2m_100"),
    *("marian", "mbart", "mt5", "pegasus"),
]
#: Their attention gives weights only; those with ALiBi are among them.
REFUSED = ["bloom", "falcon", "mpt", "gpt_neo", "openai-gpt", "mpnet", "deberta", "deberta-v2"]
EXPERIMENTS = sorted(folder.name for folder in (ROOT / "checkpoints" / "experiments").iterdir() if folder.is_dir())
CLOSE = 1e-4


def traced(reader: Reader, text: str) -> Trace:
    return reader.trace(text, TARGET if "decoder.cross" in reader.abilities.sites else None)


def questions(trace: Trace, twin: Trace) -> Iterator[tuple[Question, Trace | None]]:
    """Of each layer of each site a row or two, alone and with the twin, where both texts have row and keys."""
    for site in trace.sites:
        partners, (of_queries, of_keys) = align(trace, twin), stacks_of(site)
        rows = len(trace.axis_tokens(site)[0])
        for layer in range(trace.layers_of(site)):
            head = (layer + 1) % trace.heads_of(site)
            for row in [rows - 1] if len(trace.sites) > 1 else [rows - 1, rows - 2]:
                keys = trace.mask(site, layer, [row])[0].nonzero()[:, 0].tolist()
                asked = Question(site=site, layer=layer, head=head, row=row, key=keys[0], rival=keys[-1])
                yield asked, None
                both = [key for key in keys if partners[of_keys][key] >= 0]
                if partners[of_queries][row] >= 0 and len(both) > 1:
                    yield Question(site=site, layer=layer, head=head, row=row, key=both[-1], rival=both[0]), twin


def check(reader: Reader) -> None:
    assert reader.abilities.has("reasons")
    trace, twin = (traced(reader, text) for text in (TEXT, TWIN))
    asked_with_twin = 0
    for question, other in questions(trace, twin):
        reason = explain(reader.parts, trace, question, other)
        score = _score(trace, question)
        expected = score if reason.twin is None else score - _score(twin, reason.twin)
        close = CLOSE * max(1, abs(score), abs(expected))
        for through in (False, True):
            query, keys = (sum(each.shares(through_networks=through).values()) for each in (reason.query, reason.keys))
            if other is None:
                assert query == pytest.approx(expected, abs=close)
                assert keys == pytest.approx(expected, abs=close)
            else:
                assert query + keys + reason.distance == pytest.approx(expected, abs=close)
        asked_with_twin += other is not None
    assert asked_with_twin


def _score(trace: Trace, asked: Question) -> float:
    scores = trace.scores(asked.site, asked.layer, [asked.head], [asked.row])[0, 0]
    return float(scores[asked.key] - scores[asked.rival])


@pytest.mark.parametrize("kind", often([*EXACT, *ALSO_EXACT], ("bert", "gpt2", "llama", "gemma2", "gpt_oss", "ctrl")))
def test_parts_add_up_to_the_score_in_every_layer_alone_and_with_a_twin(kind: str) -> None:
    check(random_reader(kind))


@pytest.mark.long
@pytest.mark.parametrize("name", ["en-de", "induction", *(f"experiments/{each}" for each in EXPERIMENTS)])
def test_parts_add_up_to_the_score_of_every_checkpoint_that_ships(name: str) -> None:
    reader = open_reader(ROOT / "checkpoints" / name)
    refusals = {"additive": "not products", "gru": "not products", "convolutional": "layers add to one sum"}
    if (sentence := refusals.get(name.removeprefix("experiments/"))) is None:
        check(reader)
        return
    assert re.search("not products|cannot be split", reader.abilities.lacks["reasons"])
    trace = traced(reader, TEXT)
    with pytest.raises(TraceError, match=sentence):
        explain(reader.parts, trace, Question(site="decoder.cross", layer=0, head=0, row=1, key=1, rival=2))


@pytest.mark.parametrize("kind", often(REFUSED, ("bloom",)))
def test_where_only_weights_are_known_a_sentence_says_so(kind: str) -> None:
    reader = random_reader(kind)
    trace = traced(reader, TEXT)
    asked = Question(site=trace.sites[0], layer=1, head=2, row=4, key=1, rival=2)
    assert "Only the attention weights" in reader.abilities.lacks["reasons"]
    with pytest.raises(TraceError, match="only attention weights"):
        explain(reader.parts, trace, asked)
