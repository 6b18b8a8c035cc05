"""The whole model against torch's own Transformer, its invariants, and the shapes that its types name."""

from dataclasses import replace
from typing import Any

import pytest
import torch
from jaxtyping import TypeCheckError
from torch import nn

from model import Translator
from model.analysis.metrics.measures import norm_shares
from model.config import Norm, TransformerConfig
from model.nn.attention import MultiHeadAttention, attention_weights
from model.nn.hooks import ALWAYS_RECORDED, EXTRAS, listen
from model.nn.layers import DecoderLayer, EncoderLayer
from model.nn.transformer import Transformer


def copy_attention(ours: MultiHeadAttention, theirs: nn.MultiheadAttention) -> None:
    for part, weight, bias in zip(
        (ours.query, ours.key, ours.value), theirs.in_proj_weight.chunk(3), theirs.in_proj_bias.chunk(3), strict=True
    ):
        part.weight.copy_(weight)
        part.bias.copy_(bias.normal_(std=0.1))
    ours.output.load_state_dict(theirs.out_proj.state_dict())


@torch.no_grad()
def torchs_own(model: Transformer) -> nn.Transformer:
    """torch's Transformer, with its weights copied into ours."""
    c = model.config
    pre = c.norm == "pre"
    options: dict[str, Any] = {"dim_feedforward": c.d_ff, "dropout": 0.0, "batch_first": True, "norm_first": pre}
    encoder = nn.TransformerEncoder(
        nn.TransformerEncoderLayer(c.d_model, c.num_heads, **options),
        c.num_layers,
        nn.LayerNorm(c.d_model) if pre else None,
        enable_nested_tensor=False,
    )
    decoder = nn.TransformerDecoder(
        nn.TransformerDecoderLayer(c.d_model, c.num_heads, **options),
        c.num_layers,
        nn.LayerNorm(c.d_model) if pre else None,
    )
    theirs = nn.Transformer(c.d_model, c.num_heads, custom_encoder=encoder, custom_decoder=decoder, batch_first=True)
    for stack, other in ((model.encoder, encoder), (model.decoder, decoder)):
        for ours, layer in zip(stack.layers, other.layers, strict=True):
            assert isinstance(ours, EncoderLayer | DecoderLayer)
            assert isinstance(layer, nn.TransformerEncoderLayer | nn.TransformerDecoderLayer)
            copy_attention(ours.self_attention, layer.self_attn)
            ours.feed_forward.inner.load_state_dict(layer.linear1.state_dict())
            ours.feed_forward.outer.load_state_dict(layer.linear2.state_dict())
            norms = [ours.self_attention_residual.norm, ours.feed_forward_residual.norm]
            if isinstance(ours, DecoderLayer) and isinstance(layer, nn.TransformerDecoderLayer):
                copy_attention(ours.cross_attention, layer.multihead_attn)
                norms.insert(1, ours.cross_attention_residual.norm)
            for number, norm in enumerate(norms, start=1):
                own = getattr(layer, f"norm{number}")
                own.weight.normal_(1, 0.1)
                own.bias.normal_(0, 0.1)
                norm.load_state_dict(own.state_dict())
    return theirs.eval()


@pytest.mark.parametrize("norm", ["post", "pre"])
def test_decoder_output_equals_torchs_transformer_with_copied_weights(config: TransformerConfig, norm: Norm) -> None:
    torch.manual_seed(3)
    model = Transformer(replace(config, norm=norm)).eval()
    theirs = torchs_own(model)
    source, target = torch.randint(4, 300, (2, 9)), torch.randint(4, 300, (2, 6))
    source[1, 7:] = config.pad_id
    padding = source != config.pad_id
    with torch.no_grad():
        expected = theirs(
            model.encoder.embedding(source),
            model.decoder.embedding(target),
            tgt_mask=nn.Transformer.generate_square_subsequent_mask(6),
            src_key_padding_mask=~padding,
            memory_key_padding_mask=~padding,
            tgt_is_causal=True,
        )
        ours = model.decode(target, model.encode(source, padding), padding)
    torch.testing.assert_close(ours, expected, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("shared", [True, False])
def test_one_matrix_serves_source_target_and_output_only_if_shared(config: TransformerConfig, shared: bool) -> None:
    model = Transformer(replace(config, share_embeddings=shared))
    matrices = {
        id(model.encoder.embedding.tokens.weight),
        id(model.decoder.embedding.tokens.weight),
        id(model.projection.weight),
    }
    assert len(matrices) == (1 if shared else 3)


def test_padding_changes_no_real_row(translator: Translator) -> None:
    source, target = torch.randint(4, 300, (1, 5)), torch.randint(4, 300, (1, 4))
    padded_source = torch.cat((source, torch.zeros(1, 3, dtype=torch.long)), 1)
    padded_target = torch.cat((target, torch.zeros(1, 2, dtype=torch.long)), 1)
    with torch.no_grad():
        alone = translator.model(source, target)
        padded = translator.model(padded_source, padded_target, padded_source != 0, padded_target != 0)
    torch.testing.assert_close(padded[:, :4], alone, atol=1e-5, rtol=1e-5)


def test_capture_changes_nothing_and_the_explicit_path_agrees(translator: Translator) -> None:
    source, target = torch.randint(4, 300, (2, 8)), torch.randint(4, 300, (2, 7))
    with torch.no_grad():
        plain = translator.model(source, target)
        with listen(record=ALWAYS_RECORDED):
            captured = translator.model(source, target)
        with listen(record=ALWAYS_RECORDED | EXTRAS):
            explicit = translator.model(source, target)
    assert torch.equal(plain, captured)
    torch.testing.assert_close(explicit, plain, atol=1e-5, rtol=1e-5)


def test_other_shapes_than_the_types_say_are_refused() -> None:
    query = torch.zeros(2, 4, 3, 8)
    assert attention_weights(query, query, scale=1.0).weights.shape == (2, 4, 3, 3)
    with pytest.raises(TypeCheckError):
        attention_weights(query, torch.zeros(2, 4, 3, 7), scale=1.0)
    with pytest.raises(TypeCheckError):
        attention_weights(query, query[:, :2], scale=1.0)
    with pytest.raises(TypeCheckError):
        norm_shares(torch.ones(3, 3))
