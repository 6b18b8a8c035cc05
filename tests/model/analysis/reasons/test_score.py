"""A difference of two scores is the sum of its parts, one step back and the next."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

import pytest
import torch
from torch import nn

from model import Transformer, TransformerConfig, Translator
from model.analysis.reasons.held_run import Part
from model.analysis.reasons.score import MAX_STEPS, Question, Side, Step, align, cancelling, default_rival, explain
from model.config import Norm
from model.errors import TraceError
from model.nn.edits import SwitchOff
from model.nn.hooks import listen
from model.reader import Reader
from model.tokenizer import Tokenizer
from model.trace.trace import Trace

TEXT, TWIN, TARGET = "The animal was too tired.", "The animal was too old.", "It was old."
CLOSE = 1e-4
SIDES = {"encoder": "source", "decoder": "target"}
MODULES = {"self": "self_attention", "cross": "cross_attention", "feed_forward": "feed_forward"}


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


def followed(step: Step, part: Part, share: float, *, through: bool) -> Step:
    """What a part read, which adds up to its share: over the parts of that, and over words and constants."""
    read = step.follow(part, through_networks=through)
    by_word = sum(sum(words.values()) for words in read.words()) + sum(read.constants.values())
    sums = read.total, by_word, *(sum(read.shares(through_networks=each).values()) for each in (False, True))
    assert sums == pytest.approx([share] * len(sums), abs=CLOSE)
    return read


@pytest.mark.parametrize("through", [False, True])
@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize("other", ["", "The animal was too tried.", "The animal was tired."])
def test_what_a_part_read_adds_up_to_its_share(
    norm: Norm, other: str, through: bool, config: TransformerConfig, tokenizer: Tokenizer
) -> None:
    reader = ours(norm, config, tokenizer)
    trace = traced(reader)
    twin = traced(reader, other) if other else None
    question = Question(site="decoder.cross", layer=2, head=3, row=2, key=1, rival=3)
    query = explain(reader.parts, trace, question, twin).query
    shares = query.shares(through_networks=through)
    parts = [Part("cross", "decoder", 1), Part("self", "decoder", 2)]
    for part in parts if through else [*parts, Part("feed_forward", "decoder", 0)]:
        followed(query, part, shares[part], through=through)
    heads = query.heads(parts[0], through_networks=through)
    biases = shares[parts[0]] - sum(heads.values())
    assert biases == pytest.approx(0, abs=CLOSE)
    (head, share), *_ = heads.items()
    read = followed(query, head, share, through=through)
    word = read.at(4, 4 if twin is None else align(trace, twin)["encoder"][4])
    part = Part("self", "encoder", 2)
    followed(word, part, word.shares(through_networks=through)[part], through=through)


def test_a_word_that_the_twin_lacks_is_split_alone(config: TransformerConfig, tokenizer: Tokenizer) -> None:
    reader = ours("pre", config, tokenizer)
    trace = traced(reader)
    twin = traced(reader, "The animal was tired.")
    at = align(trace, twin)["encoder"].index(-1)
    question = Question(site="decoder.cross", layer=2, head=3, row=2, key=1, rival=len(trace.source_ids) - 1)
    read = explain(reader.parts, trace, question, twin).query.follow(Part("cross", "decoder", 1))
    word = read.at(at, -1)
    assert word.total == pytest.approx(read.words()[0][at], abs=CLOSE)
    assert abs(word.total) > CLOSE
    assert sum(word.shares(through_networks=True).values()) == pytest.approx(word.total, abs=CLOSE)


@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize("side", ["query", "keys"])
@pytest.mark.parametrize("site", ["decoder.cross", "encoder.self"])
def test_a_part_taken_from_the_stream_takes_its_share_from_the_score(
    norm: Norm, side: Side, site: str, config: TransformerConfig, tokenizer: Tokenizer
) -> None:
    """In a hooked run, in which divisors of norms and all that other sub-layers add are held."""
    reader = ours(norm, config, tokenizer)
    trace, head, row, key, rival = traced(reader), 3, 2, 1, 4
    reason = explain(reader.parts, trace, Question(site=site, layer=2, head=head, row=row, key=key, rival=rival))
    step = reason.query if side == "query" else reason.keys
    rows, stack = [row] if side == "query" else [key, rival], step.terms[0].asked.stack
    run = Held(reader.model, trace)
    assert run.score(site, head, row, key, rival) == pytest.approx(reason.here, abs=CLOSE)
    removed = 0
    for part, share in step.shares().items():
        if part.kind == "embedding":
            hook, vectors = f"{stack}.embedding.hook_embedding", trace.embedding[SIDES[stack]]
        elif part.layer is not None:
            path = f"{stack}.layers.{part.layer}.{MODULES[part.kind]}"
            hook, vectors = f"{path}_residual.hook_sublayer", run.added[f"{path}_residual.hook_sublayer"]
            vectors = vectors if part.kind == "feed_forward" else vectors - run.of(f"{path}.output.bias")
        else:
            continue
        without = run.score(site, head, row, key, rival, {hook: (rows, vectors[rows])})
        assert without == pytest.approx(reason.here - share, abs=CLOSE)
        removed += 1
    assert removed > 4


class Held:
    """A run in which every norm divides by what it did, and every sub-layer adds what it did, less what is removed."""

    def __init__(self, model: Transformer, trace: Trace) -> None:
        self.model, self.of = model, model.get_parameter
        self.ids = torch.tensor([trace.source_ids]), torch.tensor([trace.target_ids])
        self.read: dict[nn.Module, torch.Tensor] = {}
        norms = [each for each in model.modules() if isinstance(each, nn.LayerNorm)]
        handles = [
            each.register_forward_hook(lambda norm, given, _: self.read.update({norm: given[0]})) for each in norms
        ]
        with torch.no_grad(), listen(record={"hook_sublayer"}) as recorded:
            model(*self.ids)
        for handle in handles:
            handle.remove()
        self.added = {name: values[0][0] for name, values in recorded.items()}

    def score(
        self, site: str, head: int, row: int, key: int, rival: int,
        removed: Mapping[str, tuple[list[int], torch.Tensor]] | None = None,
    ) -> float:  # fmt: skip
        """The difference of two scores in the last layer of a site, without these rows of what is added at hooks."""

        def less(name: str, value: torch.Tensor) -> torch.Tensor:
            value = self.added[name][None].clone() if name in self.added else value.clone()
            if removed and name in removed:
                rows, vectors = removed[name]
                value[:, rows] -= vectors
            return value

        edits = {name: partial(less, name) for name in (*self.added, *(removed or ()))}
        handles = [norm.register_forward_hook(self.held) for norm in self.read]
        with torch.no_grad(), listen(record={"hook_scores"}, edits=edits) as recorded:
            self.model(*self.ids)
        for handle in handles:
            handle.remove()
        stack, kind = site.split(".")
        scores = recorded[f"{stack}.layers.2.{MODULES[kind]}.hook_scores"][0][0, head, row]
        return float(scores[key] - scores[rival])

    def held(self, norm: nn.Module, given: tuple[torch.Tensor], _: torch.Tensor) -> torch.Tensor:
        assert isinstance(norm, nn.LayerNorm)
        divisor = (self.read[norm].var(-1, unbiased=False, keepdim=True) + norm.eps).sqrt()
        return (given[0] - given[0].mean(-1, keepdim=True)) / divisor * norm.weight + norm.bias


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
    with pytest.raises(TraceError, match="cannot see both"):
        explain(reader.parts, trace, asked)
    with pytest.raises(TraceError, match="two different keys"):
        explain(reader.parts, trace, replace(asked, rival=1))
    edited = reader.trace(TEXT, TARGET, edits=[SwitchOff("decoder.self", 0, 1)])
    with pytest.raises(TraceError, match="edited"):
        explain(reader.parts, edited, replace(asked, rival=2))
    step = explain(reader.parts, trace, replace(asked, rival=2)).query
    for _ in range(MAX_STEPS):
        step = step.follow(Part("self", "decoder", 0)) if step.count == 0 else replace(step, count=step.count + 1)
    with pytest.raises(TraceError, match="at most 4"):
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
    assert [cancelling(shares) for shares in ([3.0, -1.0], [2.0, -2.0], [0.0, 0.0])] == [2.0, float("inf"), 1.0]
