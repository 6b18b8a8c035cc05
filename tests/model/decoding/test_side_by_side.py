"""Many sentences read side by side, each as it is read alone; masks of a padded batch; what a step costs."""

from collections.abc import Callable
from dataclasses import asdict, replace

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from model import Transformer, TransformerConfig, Translator, decoder_sizes, step_cost
from model.decoding.side_by_side import BatchMasks
from model.errors import InputTextError
from model.nn.encoder_decoder import DecoderCache
from model.nn.hooks import listen
from model.sequence_translator import SequenceTranslator
from model.translator import EarlierTranslator
from tests.conftest import SENTENCES


@pytest.fixture(params=["Transformer", "recurrent", "convolutional"])
def reader(
    request: pytest.FixtureRequest, translator: Translator, earlier_translators: dict[str, EarlierTranslator]
) -> SequenceTranslator:
    return translator if request.param == "Transformer" else earlier_translators[request.param]


def test_each_trace_is_that_of_its_sentence_alone(reader: SequenceTranslator) -> None:
    sentences = [(SENTENCES[0], SENTENCES[1]), (SENTENCES[4], None), ("Tom.", "Ja."), (SENTENCES[6], None)]
    traces = dict(reader.trace_batch(sentences))
    assert sorted(traces) == [0, 1, 2, 3]
    for number, (text, target) in enumerate(sentences):
        found, alone = traces[number], reader.trace(text, target)
        assert not isinstance(found, InputTextError)
        assert (found.text, found.translation) == (alone.text, alone.translation)
        assert (found.source_tokens, found.target_tokens) == (alone.source_tokens, alone.target_tokens)
        for site in reader.abilities.heads:
            for layer in range(alone.layers_of(site)):
                torch.testing.assert_close(found.weights(site, layer), alone.weights(site, layer), atol=1e-5, rtol=1e-4)
                torch.testing.assert_close(
                    found.head_output(site, layer), alone.head_output(site, layer), atol=1e-5, rtol=1e-4
                )


def test_sentences_that_are_refused_come_first_with_the_reason(reader: SequenceTranslator) -> None:
    (number, refused), (other, blank), *rest = reader.trace_batch([("Tom.", None), (" ", None), ("Tom.", " ")])
    assert (number, other) == (1, 2)
    assert isinstance(refused, InputTextError)
    assert isinstance(blank, InputTextError)
    assert [position for position, _ in rest] == [0]


TEXTS = ["Tom told me that he would be late.", "Hi.", "The animal was tired."]


@pytest.fixture(scope="module")
def masks(translator: Translator) -> BatchMasks:
    return translator.masks(TEXTS)


def test_every_cell_of_every_mask_follows_from_order_and_padding(masks: BatchMasks) -> None:
    for row, (source, target) in enumerate(zip(masks.source_tokens, masks.target_tokens, strict=True)):
        for q in range(len(target)):
            for k, key in enumerate(target):
                assert masks.causal[q, k] == (k <= q)
                assert masks.target_padding[row, q, k] == (key != "<pad>")
                assert masks.decoder_self[row, q, k] == (k <= q and key != "<pad>")
            assert masks.decoder_cross[row, q].tolist() == [key != "<pad>" for key in source]
        for q in range(len(source)):
            assert masks.encoder_self[row, q].tolist() == [key != "<pad>" for key in source]


TINY = TransformerConfig(vocab_size=90, d_model=24, num_layers=2, num_heads=3, d_ff=40)
SHAPES = [TINY, replace(TINY, norm="pre", num_layers=3, d_ff=56, share_embeddings=False)]
SOURCE = [5, 9, 17, 4, 33, 8, 3]
PREFIX = [2, 7, 7, 12, 50, 6]


def multiplied(run: Callable[[], object], num_layers: int) -> dict[str, int]:
    """Multiply-adds of a run of the decoder by part; torch counts two operations for each."""
    # The counter knows matrix products, but not the fused kernel of a CPU: recording weights takes the explicit path.
    with torch.inference_mode(), listen(record={"hook_weights"}), FlopCounterMode(display=False) as counter:
        run()
    counts = {name: sum(operations.values()) // 2 for name, operations in counter.get_flop_counts().items()}

    def of(part: str) -> int:
        return sum(counts.get(f"TransformerDecoder.layers.{layer}.{part}", 0) for layer in range(num_layers))

    work = {"feed_forward": of("feed_forward")}
    for site in ("self", "cross"):
        work[f"{site}_projections"] = sum(
            of(f"{site}_attention.{name}") for name in ("query", "key", "value", "output")
        )
        work[f"{site}_attention"] = of(f"{site}_attention") - work[f"{site}_projections"]
    work["output_projection"] = counts["Global"] - counts["TransformerDecoder"]
    return work


@pytest.mark.parametrize("config", SHAPES, ids=["post", "pre"])
def test_every_step_costs_what_torch_multiplies_with_the_cache_and_without(config: TransformerConfig) -> None:
    model = Transformer(config).eval()
    with torch.inference_mode():
        memory = model.encode(torch.tensor([SOURCE]))
    cache = model.new_cache()
    for step, token_id in enumerate(PREFIX):
        cost = step_cost(decoder_sizes(config), len(SOURCE), step)
        last, prefix = torch.tensor([[token_id]]), torch.tensor([PREFIX[: step + 1]])
        before = kept(cache)
        cached = multiplied(lambda: model.projection(model.decode(last, memory, cache=cache)), config.num_layers)  # noqa: B023
        anew = multiplied(lambda: model.projection(model.decode(prefix, memory)[:, -1]), config.num_layers)  # noqa: B023
        assert asdict(cost.cached) == cached
        assert asdict(cost.recomputed) == anew
        assert cost.reused_numbers == before
        assert cost.saved == sum(anew.values()) - sum(cached.values())


def kept(cache: DecoderCache) -> int:
    return sum(held.numel() for layer in cache.layers for rows in layer for held in rows.tensors)
