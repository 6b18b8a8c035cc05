"""What a score becomes without a part or a word, by one product and by a run."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
import torch
from torch import Tensor

from model import TransformerConfig, Translator
from model.adapters.text_reader import TextReader
from model.analysis.reasons.held_run import Part
from model.analysis.reasons.score import Question, explain
from model.analysis.reasons.without import Outcome, as_it_is, without
from model.config import Norm
from model.errors import TraceError
from model.nn.hooks import Edit, first_row, listen
from model.parts.weights import Stack
from model.tokenizer import Tokenizer
from model.trace.trace import Trace
from model.word_choice import Chooser, TokenPlace
from tests.model.adapters.zoo import KINDS, random_reader
from tests.model.analysis.reasons.test_score import TARGET, TEXT, ours
from tests.often import often
from tests.shipped import FOLDER, TIRED, WIDE

CLOSE = 1e-4
WHOLE, HEADS = "_residual.hook_sublayer", ".hook_head_output"
TWIN = TEXT.replace("tired", "tried")
CROSS = Question(site="decoder.cross", layer=2, head=3, row=2, key=1, rival=3)
#: A question of the last layer, a part below it and the module that puts it out, of decoders, encoders and both.
BY_HAND = {
    "gpt2": (Part("feed_forward", "decoder", 0), "transformer.h.0.mlp.c_proj"),
    "granite": (Part("self", "decoder", 0), "model.layers.0.self_attn.o_proj"),
    "bert": (Part("self", "encoder", 0), "encoder.layer.0.attention.output.dense"),
    "t5": (Part("cross", "decoder", 0), "decoder.block.0.layer.1.EncDecAttention.o"),
}


#: Of mechanisms: rotary positions, experts, caps and norms of outputs, parallel blocks, factors, norms of queries.
MECHANISMS = ["llama", "mixtral", "gemma2", "gpt_neox", "granite", "qwen3", "bert", "t5"]


def opened(kind: str, config: TransformerConfig, tokenizer: Tokenizer) -> Chooser:
    """One of ours, by its norm, or of the library."""
    return random_reader(kind) if kind in KINDS else ours("pre" if kind == "pre" else "post", config, tokenizer)


def traced(reader: Chooser, text: str, target: str = TARGET) -> Trace:
    return reader.trace(text, target if reader.abilities.kind == "encoder-decoder" else None)


def last_question(trace: Trace) -> Question:
    """Of the last head of the last site: its last row, and keys that differ between text and twin."""
    site = trace.sites[-1]
    layer, row = trace.layers_of(site) - 1, len(trace.axis_tokens(site)[0]) - 1
    key, rival = (0, 2) if site == "decoder.cross" else (row - 1, row - 2)
    return Question(site=site, layer=layer, head=trace.heads_of(site) - 1, row=row, key=key, rival=rival)


def is_run(outcome: Outcome, run: Trace, q: Question) -> None:
    scores, weights = (each(q.site, q.layer, [q.head], [q.row])[0, 0] for each in (run.scores, run.weights))
    measured = outcome.by_run
    assert measured.score == pytest.approx(float(scores[q.key] - scores[q.rival]), abs=CLOSE)
    assert measured.key_weight == pytest.approx(float(weights[q.key]), abs=CLOSE)
    assert measured.rival_weight == pytest.approx(float(weights[q.rival]), abs=CLOSE)


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_parts_of_our_models_are_exchanged_as_hooks_written_by_hand_exchange_them(
    norm: Norm, config: TransformerConfig, tokenizer: Tokenizer
) -> None:
    reader = ours(norm, config, tokenizer)
    trace, twin = traced(reader, TEXT), traced(reader, TWIN)
    reason = explain(reader.parts, trace, CROSS, twin)
    path, row = "decoder.layers.1.cross_attention", CROSS.row
    with listen(record={"hook_sublayer", "hook_head_output"}) as recorded, torch.inference_mode():
        reader.model(torch.tensor([twin.source_ids]), torch.tensor([twin.target_ids]))

    def exchanged(hook: str, where: tuple[slice | int, ...], value: Tensor) -> Tensor:
        value = value.clone()
        # Once it writes, it computes row after row.
        if 0 <= (at := row - first_row()) < value.size(-2):
            value[(*where, at)] = recorded[f"{path}{hook}"][0][(*where, row)]
        return value

    edits: list[tuple[Part, dict[str, Edit]]] = [
        (Part("cross", "decoder", 1), {f"{path}{WHOLE}": partial(exchanged, WHOLE, (slice(None),))}),
        (Part("cross", "decoder", 1, 2), {f"{path}{HEADS}": partial(exchanged, HEADS, (slice(None), 2))}),
    ]
    for part, by_hand in edits:
        outcome = without(reader, reason, reason.query, part)
        is_run(outcome, reader.trace(TEXT, TARGET, edits=by_hand), CROSS)
        session = reader.decode(TEXT, edits=by_hand)
        for token in trace.target_ids[1 : row + 1]:
            session.force(token)
        session.run()
        place = TokenPlace(trace.source_ids, trace.target_ids[: row + 1], row)
        with torch.inference_mode():
            logits = reader.place_logits(place, edits=by_hand)[0]
        said, other = outcome.by_run.pair
        assert said == trace.target_tokens[row + 1]
        # Some tokens are spelled alike.
        of_pair = [number for number, token in enumerate(reader.all_tokens()) if token == other]
        odds = (logits[trace.target_ids[row + 1]] - logits[of_pair]).tolist()
        assert any(outcome.by_run.log_odds == pytest.approx(each, abs=CLOSE) for each in odds)
        assert outcome.by_run.text == tokenizer.decode(session.written_ids[row:][:24])


def with_module(reader: TextReader, path: str, edit: Callable[[Tensor], Tensor], run: Callable[[], Any]) -> Any:
    """What a run gives in which a module of torch puts something else out."""
    handle = reader.model.get_submodule(path).register_forward_hook(lambda _module, _given, output: edit(output))
    try:
        return run()
    finally:
        handle.remove()


@pytest.mark.parametrize("has_twin", [False, True])
@pytest.mark.parametrize("kind", list(BY_HAND))
def test_parts_of_library_models_are_exchanged_as_hooks_of_torch_exchange_them(kind: str, has_twin: bool) -> None:
    reader, (part, path) = random_reader(kind), BY_HAND[kind]
    trace, put_out = traced(reader, TEXT), list[Tensor]()
    q = last_question(trace)

    def kept(output: Tensor) -> Tensor:
        put_out.append(output)
        return output

    other = with_module(reader, path, kept, lambda: traced(reader, TWIN if has_twin else TEXT))
    reason = explain(reader.parts, trace, q, other if has_twin else None)
    instead = put_out[-1][0, q.row] if has_twin else put_out[-1][0].mean(0)

    def exchanged(output: Tensor) -> Tensor:
        output = output.clone()
        output[0, q.row] = instead
        return output

    expected = with_module(reader, path, exchanged, lambda: traced(reader, TEXT))
    is_run(without(reader, reason, reason.query, part), expected, q)


@pytest.mark.parametrize("kind", often(["pre", "post", *MECHANISMS], ("pre", "post", "gemma2", "bert", "t5")))
def test_what_nothing_else_reads_gives_the_same_by_a_product_and_by_a_run(
    kind: str, config: TransformerConfig, tokenizer: Tokenizer
) -> None:
    reader = opened(kind, config, tokenizer)
    trace, twin = traced(reader, TEXT), traced(reader, TWIN)
    q = last_question(trace)
    if q.site == "decoder.cross":
        below = Part("self", "decoder", q.layer)
    else:
        stack: Stack = "encoder" if q.site == "encoder.self" else "decoder"
        # In parallel blocks the network reads nothing that differs, and nothing reads the attention but the next layer.
        below = Part("self" if kind == "gpt_neox" else "feed_forward", stack, q.layer - 1)
    changed = explain(reader.parts, trace, q, twin)
    alone = explain(reader.parts, trace, q)
    steps = [(changed, changed.query, below), (alone, alone.query, below)]
    # Of an encoder's output more is made than keys.
    steps += [] if q.site == "decoder.cross" else [(changed, changed.keys, below)]
    for reason, step, part in steps:
        outcome = without(reader, reason, step, part)
        assert abs(outcome.by_run.score - reason.here) > CLOSE
        assert outcome.by_product == pytest.approx(outcome.by_run.score, abs=CLOSE)


@pytest.mark.parametrize("kind", ["pre", "post", "t5"])
def test_with_the_whole_memory_of_the_twin_the_score_is_the_twins(
    kind: str, config: TransformerConfig, tokenizer: Tokenizer
) -> None:
    reader = opened(kind, config, tokenizer)
    trace, twin = traced(reader, TEXT), traced(reader, TWIN)
    q = last_question(trace)
    reason = explain(reader.parts, trace, q, twin)
    read = reason.query.follow(Part("cross", "decoder", 0))
    outcome = without(reader, reason, read, *range(len(trace.source_ids)))
    is_run(outcome, twin, q)
    assert outcome.by_run.score == pytest.approx(reason.there, abs=CLOSE)
    alone = as_it_is(reader, explain(reader.parts, twin, q))
    assert outcome.by_run.text == alone.text
    # The mirrored test: with the whole memory of the text the twin's score is the text's.
    back = without(reader, reason, read, *range(len(twin.source_ids)), of_twin=True)
    is_run(back, trace, q)
    assert back.by_run.text == as_it_is(reader, reason).text
    assert back.by_run.pair == outcome.by_run.pair
    assert back.share == pytest.approx(-outcome.share, abs=CLOSE)
    assert reason.here != pytest.approx(reason.there, abs=100 * CLOSE)


def test_what_cannot_be_taken_out_is_said(config: TransformerConfig, tokenizer: Tokenizer) -> None:
    reader = ours("pre", config, tokenizer)
    reason = explain(reader.parts, traced(reader, TEXT), CROSS, traced(reader, TWIN))
    for what, message in (
        (Part("bias"), "bias cannot be taken out"),
        (Part("feed_forward", "decoder", 2), "comes later"),
        (1, "Nothing is read at this position"),
    ):
        with pytest.raises(TraceError, match=message):
            without(reader, reason, reason.query, what)


def test_on_the_checkpoint_that_ships_it_is_the_pronoun_that_turns_the_head() -> None:
    shipped = Translator.load(FOLDER, device="cpu")
    trace = shipped.trace(TIRED)
    row, (animal, street) = trace.target_tokens.index("▁weil"), (1, 8)
    it, tired = trace.source_tokens.index("▁it"), trace.source_tokens.index("▁tired")
    twin = shipped.trace_tokens(WIDE, trace.target_ids[1:])
    q = Question(site="decoder.cross", layer=4, head=1, row=row, key=animal, rival=street)
    reason = explain(shipped.parts, trace, q, twin)
    whole = as_it_is(shipped, reason)
    assert whole.pair == ("▁es", "▁sie")
    assert whole.log_odds is not None
    assert whole.log_odds > 7
    assert whole.text == "es zu müde war."
    read = reason.query.follow(Part("cross", "decoder", 3))
    words, nouns = (without(shipped, reason, read, *at).by_run for at in ((it, tired), (animal, street)))
    assert words.log_odds is not None
    assert words.log_odds < -7
    assert words.rival_weight > 0.7
    assert words.text == "sie zu breit war."
    assert nouns.log_odds == pytest.approx(whole.log_odds, abs=0.1)
    assert nouns.score == pytest.approx(whole.score, abs=0.1)
    # In the twin's run it is the same, with the text's memory.
    twins = as_it_is(shipped, reason, of_twin=True)
    back = without(shipped, reason, read, it, tired, of_twin=True).by_run
    assert twins.pair == back.pair == whole.pair
    assert twins.log_odds is not None
    assert back.log_odds is not None
    assert twins.log_odds < -7 < 7 < back.log_odds
    assert back.key_weight > 0.7 > 0.1 > twins.key_weight
    # A share that is followed through layers says less than a run.
    heard = without(shipped, reason, read.at(it), Part("self", "encoder", 3), through_networks=True)
    assert whole.score - heard.by_product < 3 < 8 < whole.score - heard.by_run.score
    # What helps the word most takes from the score.
    own = without(shipped, reason, reason.query, Part("self", "decoder", 4)).by_run
    assert own.score > 10.5
    assert own.log_odds is not None
    assert own.log_odds < 1
