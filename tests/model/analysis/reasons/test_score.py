"""A difference of two scores is the sum of its parts, one step back and the next."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
import torch

from model import Transformer, TransformerConfig, Translator
from model.analysis.reasons.held_run import HeldRun, Part
from model.analysis.reasons.score import MAX_STEPS, Question, Reason, Step, align, cancelling, default_rival, explain
from model.config import Norm
from model.errors import TraceError
from model.nn.edits import SwitchOff
from model.nn.hooks import listen
from model.parts.weights import Sublayer
from model.reader import Reader
from model.tokenizer import Tokenizer
from model.trace.trace import Trace
from tests.model.adapters.zoo import KINDS, random_reader

TEXT, TWIN, TARGET = "The animal was too tired.", "The animal was too old.", "It was old."
#: Of mechanisms: added and rotary positions, biases of distance, groups, parallel blocks, caps, post-norm, experts.
EXACT = [
    "gpt2",
    "llama",
    "mistral",
    "mixtral",
    "gemma2",
    "gpt_neox",
    "phi",
    "granite",
    "qwen3",
    "olmo2",
    "bert",
    "roberta",
    "bart",
    "t5",
]
CLOSE = 1e-4


def ours(norm: Norm, config: TransformerConfig, tokenizer: Tokenizer) -> Translator:
    """Random, no gain 1 and no bias 0, of unequal stacks."""
    torch.manual_seed(5)
    model = Transformer(replace(config, norm=norm, num_layers=3))
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() == 1:
                parameter.add_(torch.randn_like(parameter), alpha=0.3)
    return Translator(model, tokenizer, name=norm, digest=norm)


def traced(reader: Reader, text: str = TEXT) -> Trace:
    return reader.trace(text, TARGET if reader.abilities.sites[-1] == "decoder.cross" else None)


def questions(trace: Trace) -> Iterator[Question]:
    """The last row of the last layer of each site: its first and its last key."""
    for site in trace.sites:
        layer, head = trace.layers_of(site) - 1, trace.heads_of(site) - 1
        row = len(trace.axis_tokens(site)[0]) - 1
        keys = trace.mask(site, layer, [row])[0].nonzero()[:, 0].tolist()
        yield Question(site=site, layer=layer, head=head, row=row, key=keys[0], rival=keys[-1])


def exact(reason: Reason, trace: Trace) -> None:
    q = reason.question
    scores = trace.scores(q.site, q.layer, [q.head], [q.row])[0, 0]
    score = float(scores[q.key] - scores[q.rival])
    assert reason.here == pytest.approx(score, abs=CLOSE)
    assert reason.is_exact
    for side in (reason.query, reason.keys):
        for through in (False, True):
            sum_of_parts = sum(side.shares(through_networks=through).values())
            assert sum_of_parts == pytest.approx(score, abs=CLOSE * max(1, abs(score)))


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_parts_of_our_models_add_up_to_the_score(norm: Norm, config: TransformerConfig, tokenizer: Tokenizer) -> None:
    reader = ours(norm, config, tokenizer)
    trace = traced(reader)
    for question in questions(trace):
        exact(explain(reader.parts, trace, question), trace)


@pytest.mark.parametrize("kind", EXACT)
def test_parts_of_library_models_add_up_to_the_score(kind: str) -> None:
    reader = random_reader(kind)
    trace = reader.trace(TEXT, TARGET if KINDS[kind] == "encoder-decoder" else None)
    for question in questions(trace):
        exact(explain(reader.parts, trace, question), trace)


def test_where_queries_are_made_in_an_unknown_way_it_says_that_scores_cannot_be_split() -> None:
    reader = random_reader("ctrl")
    trace = reader.trace(TEXT)
    with pytest.raises(TraceError, match="neither a norm nor a rotation"):
        explain(reader.parts, trace, next(questions(trace)))


def followed(step: Step, part: Part, share: float) -> Step:
    read = step.follow(part)
    assert read.total == pytest.approx(share, abs=CLOSE)
    assert sum(read.shares().values()) == pytest.approx(share, abs=CLOSE)
    by_word = sum(sum(words.values()) for words in read.words()) + sum(read.constants.values())
    assert by_word == pytest.approx(share, abs=CLOSE)
    return read


@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize("has_twin", [False, True])
def test_what_a_part_read_adds_up_to_its_share(
    norm: Norm, has_twin: bool, config: TransformerConfig, tokenizer: Tokenizer
) -> None:
    reader = ours(norm, config, tokenizer)
    trace = traced(reader)
    twin = traced(reader, TEXT.replace("tired", "tried")) if has_twin else None
    question = Question(site="decoder.cross", layer=2, head=3, row=2, key=1, rival=3)
    reason = explain(reader.parts, trace, question, twin)
    shares = reason.query.shares()
    for part in (Part("cross", "decoder", 1), Part("self", "decoder", 2), Part("feed_forward", "decoder", 0)):
        followed(reason.query, part, shares[part])
    (head, share), *_ = reason.query.heads(Part("cross", "decoder", 1)).items()
    word = followed(reason.query, head, share).at(4)
    part = Part("feed_forward", "encoder", 2)
    followed(word, part, word.shares()[part])


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_with_a_twin_both_sides_add_up_to_the_change(
    norm: Norm, config: TransformerConfig, tokenizer: Tokenizer
) -> None:
    reader = ours(norm, config, tokenizer)
    trace, twin = traced(reader), traced(reader, TEXT.replace("tired", "tried"))
    for question in questions(trace):
        reason = explain(reader.parts, trace, replace(question, key=1, rival=2), twin)
        assert reason.there is not None
        assert reason.query.total + reason.keys.total == pytest.approx(reason.here - reason.there, abs=CLOSE)
        assert reason.is_exact


def test_a_head_taken_from_what_the_query_reads_takes_its_share_from_the_score(
    config: TransformerConfig, tokenizer: Tokenizer
) -> None:
    """With the divisor of the norm held: what is taken off is put through it as a part is."""
    reader = ours("pre", config, tokenizer)
    trace = traced(reader)
    question = Question(site="decoder.cross", layer=2, head=3, row=2, key=1, rival=3)
    reason = explain(reader.parts, trace, question)
    part = Part("cross", "decoder", 1, 2)
    share = reason.query.heads(part._replace(head=None))[part]
    output = trace.head_output("decoder.cross", 1, [2], [2])[0, 0]
    of = reader.model.get_parameter
    written = output @ of("decoder.layers.1.cross_attention.output.weight")[:, 16:24].T
    sublayer = Sublayer("decoder", 2, "cross")
    norm, x = reader.parts.norms(sublayer).before, HeldRun(reader.parts, trace).stream("decoder", 7, [2])[0]
    assert norm is not None

    def without(query: torch.Tensor) -> torch.Tensor:
        divisor = (x.var(unbiased=False) + norm.epsilon).sqrt()
        part_read = (written - written.mean()) / divisor * of("decoder.layers.2.cross_attention_residual.norm.weight")
        query = query.clone()
        query[0, :, 2] -= (of("decoder.layers.2.cross_attention.query.weight") @ part_read).view(4, 8)
        return query

    ids = torch.tensor([trace.source_ids]), torch.tensor([trace.target_ids])
    name = "decoder.layers.2.cross_attention.hook_scores"
    path = "decoder.layers.2.cross_attention.hook_query"
    with torch.no_grad(), listen(record={"hook_scores"}, edits={path: without}) as recorded:
        reader.model(*ids)
    scores = recorded[name][0][0, 3, 2]
    assert float(scores[1] - scores[3]) == pytest.approx(reason.here - share, abs=CLOSE)


def test_the_rival_is_the_key_that_the_twin_looks_at_or_the_runner_up(
    config: TransformerConfig, tokenizer: Tokenizer
) -> None:
    reader = ours("pre", config, tokenizer)
    trace, twin = traced(reader), traced(reader, TEXT.replace("tired", "tried"))
    row = trace.weights("decoder.cross", 0, [1], [3])[0, 0]
    first, second = row.argsort(descending=True)[:2].tolist()
    question = Question(site="decoder.cross", layer=0, head=1, row=3, key=first, rival=first)
    assert default_rival(question, trace) == second
    most = int(twin.weights("decoder.cross", 0, [1], [3]).argmax())
    other = replace(question, key=(most + 1) % len(row))
    assert default_rival(other, trace, twin) == align(twin, trace)["encoder"][most]


def test_what_cannot_be_asked_is_said(config: TransformerConfig, tokenizer: Tokenizer) -> None:
    reader = ours("pre", config, tokenizer)
    trace = traced(reader)
    asked = Question(site="decoder.self", layer=1, head=0, row=2, key=1, rival=4)
    with pytest.raises(TraceError, match="may not see both"):
        explain(reader.parts, trace, asked)
    with pytest.raises(TraceError, match="two different keys"):
        explain(reader.parts, trace, replace(asked, rival=1))
    edited = reader.trace(TEXT, TARGET, edits=[SwitchOff("decoder.self", 0, 1)])
    with pytest.raises(TraceError, match="edited"):
        explain(reader.parts, edited, replace(asked, rival=2))
    step = explain(reader.parts, trace, replace(asked, rival=2)).query
    for _ in range(MAX_STEPS):
        step = step.follow(Part("self", "decoder", 0)) if step.count == 0 else replace(step, count=step.count + 1)
    with pytest.raises(TraceError, match="No more than 4"):
        step.follow(Part("self", "decoder", 0))


def test_a_twin_that_read_another_target_is_refused_with_what_to_do(
    config: TransformerConfig, tokenizer: Tokenizer
) -> None:
    reader = ours("pre", config, tokenizer)
    trace, text = traced(reader), TEXT.replace("tired", "tried")
    asked = Question(site="decoder.cross", layer=1, head=0, row=2, key=1, rival=2)
    with pytest.raises(TraceError, match=r"same target so far.*trace_tokens"):
        explain(reader.parts, trace, asked, reader.trace(text, "He was old."))
    twin = reader.trace_tokens(text, trace.target_ids[1:])
    assert explain(reader.parts, trace, asked, twin).is_exact


def test_a_second_question_about_a_trace_computes_no_row_again(config: TransformerConfig, tokenizer: Tokenizer) -> None:
    reader = ours("pre", config, tokenizer)
    trace, rows = traced(reader), []
    layers = reader.model.encoder.layers
    layers[0].register_forward_hook(lambda _layer, _given, output: rows.append(output.size(1)))
    asked = Question(site="decoder.cross", layer=1, head=0, row=2, key=1, rival=2)
    first = explain(reader.parts, trace, asked)
    assert rows == [2]
    second = explain(reader.parts, trace, replace(asked, layer=2, head=3))
    assert rows == [2]
    third = explain(reader.parts, trace, replace(asked, key=5))
    assert rows == [2, 1]
    assert all(reason.is_exact for reason in (first, second, third))


def test_parts_that_cancel_are_known_by_their_factor() -> None:
    assert cancelling({Part("bias"): 3.0, Part("reading"): -1.0}) == 2.0
