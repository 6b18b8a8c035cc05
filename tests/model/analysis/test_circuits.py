"""QK and OV of heads, ours and the library's: against the weights in float64, and what a model computes itself."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import pytest
import torch
from torch import Tensor

from model import Translator
from model.analysis.head_circuits import HeadCircuits, copying_score, copying_scores, head_circuits
from model.config import TransformerConfig
from model.errors import DataError
from model.nn.transformer import Transformer
from model.opening import open_reader
from model.tokenizer import Tokenizer
from tests.model.adapters.zoo import save_model, save_tokenizer, tiny
from tests.often import often


@dataclass(frozen=True, kw_only=True)
class Names:
    """Where a model has its weights, and what it does with them; {stack} and {n} stand for a stack and a layer."""

    table: str
    layer: str
    sites: Sequence[str]  #: self- and cross-attention, in a layer
    matrices: Sequence[str]  #: in an attention, W_Q, W_K, W_V and W_O; or a matrix with the first three in it, and W_O
    norms: Sequence[str]  #: of the sub-layers of a layer, in order
    is_post: bool = False
    final: str = ""
    head: str = "lm_head"
    of_output: str = ""
    of_embedding: str = ""
    of_heads: Sequence[str] = ("", "")  #: norms of queries and keys
    embedding_scale: float = 1.0
    scale: float | None = None
    centres: bool = True
    epsilon: float = 1e-5
    added_gain: float = 0.0
    softcap: float | None = None
    rotated: int = 0  #: dimensions of a head that positions rotate
    base: float = 10_000.0


LINEAR = ("q_proj", "k_proj", "v_proj")
LLAMA = Names(
    table="model.embed_tokens", layer="model.layers.{n}.", sites=["self_attn."], matrices=[*LINEAR, "o_proj"],
    norms=["input_layernorm", ""], final="model.norm", centres=False, epsilon=1e-6, rotated=8,
)  # fmt: skip
OURS = Names(
    table="{stack}.embedding.tokens", layer="{stack}.layers.{n}.", sites=["self_attention.", "cross_attention."],
    matrices=["query", "key", "value", "output"], head="projection", final="{stack}.norm", embedding_scale=32**0.5,
    norms=["self_attention_residual.norm", "cross_attention_residual.norm", "feed_forward_residual.norm"],
)  # fmt: skip
NAMES: Final = {
    "pre": OURS,
    "post": replace(OURS, is_post=True, final=""),
    "gpt2": Names(
        table="transformer.wte", layer="transformer.h.{n}.", sites=["attn."], matrices=["c_attn", "c_proj"],
        norms=["ln_1", ""], final="transformer.ln_f",
    ),
    "llama": LLAMA,
    "gpt_neox": Names(
        table="gpt_neox.embed_in", layer="gpt_neox.layers.{n}.", sites=["attention."], norms=["input_layernorm", ""],
        matrices=["query_key_value", "dense"], final="gpt_neox.final_layer_norm", rotated=2,
    ),
    "gemma2": replace(
        LLAMA, embedding_scale=32**0.5, added_gain=1.0, softcap=2.0, of_output="post_attention_layernorm",
    ),
    "granite": replace(LLAMA, embedding_scale=7.0, scale=0.3),
    "qwen3": replace(LLAMA, of_heads=["self_attn.q_norm", "self_attn.k_norm"], rotated=16),
    "mixtral": replace(LLAMA, epsilon=1e-5, base=1_000_000.0),
    "phi": replace(
        LLAMA, matrices=[*LINEAR, "dense"], final="model.final_layernorm", centres=True, epsilon=1e-5, rotated=4,
    ),
    "t5": Names(
        table="shared", layer="{stack}.block.{n}.layer.", sites=["0.SelfAttention.", "1.EncDecAttention."],
        matrices="qkvo", norms=["0.layer_norm", "1.layer_norm", ""], final="{stack}.final_layer_norm", scale=1.0,
        centres=False, epsilon=1e-6,
    ),
    "bart": Names(
        table="model.shared", layer="model.{stack}.layers.{n}.", sites=["self_attn.", "encoder_attn."], is_post=True,
        matrices=[*LINEAR, "out_proj"], of_embedding="model.{stack}.layernorm_embedding",
        norms=["self_attn_layer_norm", "encoder_attn_layer_norm", "final_layer_norm"],
    ),
    "bert": Names(
        table="embeddings.word_embeddings", layer="encoder.layer.{n}.", sites=["attention."], is_post=True,
        matrices=["self.query", "self.key", "self.value", "output.dense"], of_embedding="embeddings.LayerNorm",
        norms=["attention.output.LayerNorm", "output.LayerNorm"], epsilon=1e-12,
    ),
}  # fmt: skip
#: It multiplies what its layers add.
CHANGES: Final[dict[str, dict[str, Any]]] = {"granite": {"embedding_multiplier": 7.0, "residual_multiplier": 0.3}}


@dataclass(frozen=True)
class Recomputed:
    """QK and OV of a head in float64, from the weights of its model alone."""

    names: Names
    weights: dict[str, Tensor]
    site: str
    heads: int
    layers: dict[str, int]

    def get(self, path: str, stack: str, layer: int, part: str = "weight") -> Tensor | None:
        return self.weights.get(f"{path}.{part}".format(stack=stack, n=layer))

    def linear(self, x: Tensor, path: str, stack: str, layer: int = 0) -> Tensor:
        """A norm, where there is one, but for its divisor and bias."""
        if (gain := self.get(path, stack, layer)) is None:
            return x
        return (x - x.mean(-1, keepdim=True) * self.names.centres) * (gain + self.names.added_gain)

    def norm(self, x: Tensor, path: str, stack: str, layer: int = 0) -> Tensor:
        if self.get(path, stack, layer) is None:
            return x
        centred, bias = x - x.mean(-1, keepdim=True) * self.names.centres, self.get(path, stack, layer, "bias")
        normed = self.linear(x, path, stack, layer)
        normed = normed / (centred.square().mean(-1, keepdim=True) + self.names.epsilon).sqrt()
        return normed if bias is None else normed + bias

    def norms(self, stack: str) -> list[tuple[str, str, int]]:
        """Of every sub-layer of a stack, in order."""
        own = [self.names.layer + norm for norm in self.names.norms]
        of_layer = [own[0], own[-1]] if stack == "encoder" else own
        return [(path, stack, layer) for layer in range(self.layers[stack]) for path in of_layer]

    def circuits(self, layer: int, head: int, distance: int) -> tuple[Tensor, Tensor]:
        """The scores of every token with every other, and what the head writes of each."""
        names, (stack, kind) = self.names, self.site.split(".")
        norms = self.norms(stack)
        at = layer * len(norms) // self.layers[stack] + (kind == "cross")

        def embedded(stack: str) -> tuple[Tensor, Tensor]:
            table = self.weights[f"{names.table}.weight".format(stack=stack)] * names.embedding_scale
            return self.norm(table, names.of_embedding, stack), torch.zeros_like(table[:1])

        own = norms[at - names.is_post] if at or not names.is_post else ("", stack, 0)
        read = [self.norm(x, *own) for x in embedded(stack)]
        seen = read
        if kind == "cross":
            last = self.norms("encoder")[-1] if names.is_post else (names.final, "encoder", 0)
            seen = [self.norm(x, *last) for x in embedded("encoder")]
        (w_q, b_q), (w_k, b_k), (w_v, _), w_o = self.matrices(kind, layer, head)
        of_queries, of_keys = (names.layer + norm for norm in names.of_heads)
        queries = self.rotated(self.norm(read[0] @ w_q.T + b_q, of_queries, stack, layer), distance)
        scores = queries @ self.norm(seen[0] @ w_k.T + b_k, of_keys, stack, layer).T * (names.scale or len(w_q) ** -0.5)
        if names.softcap:
            scores = names.softcap * (scores / names.softcap).tanh()
        written = self.linear(w_o, names.layer + names.of_output, stack, layer) if names.of_output else w_o
        for norm in [*(norms[at:] if names.is_post else []), (names.final, stack, 0)]:
            written = self.linear(written, *norm) if stack == "decoder" else written
        tokens = self.weights[f"{names.head if stack == 'decoder' else names.table}.weight".format(stack=stack)]
        return scores, (seen[0] - seen[1]) @ w_v.T @ written @ tokens.T

    def matrices(self, kind: str, layer: int, head: int) -> Any:
        """W_Q, W_K, W_V of the head, each with its bias, and W_O."""
        names, stack = self.names, self.site.split(".")[0]
        found: list[Tensor] = []
        for name in names.matrices:
            path = names.layer + names.sites[kind == "cross"] + name
            weight, bias = (self.get(path, stack, layer, part) for part in ("weight", "bias"))
            assert weight is not None
            weight = weight.T if name.startswith("c_") else weight
            both = torch.cat((weight, weight.new_zeros(len(weight), 1) if bias is None else bias[:, None]), 1)
            if name == "query_key_value":
                both = both.unflatten(0, (self.heads, 3, -1)).transpose(0, 1).flatten(0, 2)
            found += both.chunk(3) if name in ("c_attn", "query_key_value") else [both]
        width, groups = len(found[0]) // self.heads, len(found[0]) // len(found[1])
        own = [found[0].split(width)[head], *(each.split(width)[head // groups] for each in found[1:3])]
        return *((each[:, :-1], each[:, -1]) for each in own), found[3][:, :-1].T.split(width)[head]

    def rotated(self, x: Tensor, distance: int) -> Tensor:
        half = self.names.rotated // 2
        angles = distance * self.names.base ** (-torch.arange(half, dtype=torch.float64) / max(half, 1))
        one, other, rest = x.split((half, half, x.size(1) - 2 * half), dim=1)
        turned = (one * angles.cos() - other * angles.sin(), other * angles.cos() + one * angles.sin(), rest)
        return torch.cat(turned, 1)


def opened(kind: Any, folder: Path, config: TransformerConfig, tokenizer: Tokenizer) -> Any:
    """A model no gain of which is 1 and no bias 0."""
    torch.manual_seed(5)
    is_ours, own = kind in ("pre", "post"), replace(config, num_layers=3, num_decoder_layers=2, share_embeddings=False)
    model: Any = Transformer(replace(own, norm=kind)) if is_ours else tiny(kind, changes=CHANGES.get(kind))
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() == 1:
                parameter.add_(torch.randn_like(parameter) * 0.2)
    if is_ours:
        return Translator(model, tokenizer, name=kind)
    model.save_pretrained(folder)
    save_tokenizer(folder, "bytes")
    return open_reader(folder, device="cpu")


@pytest.mark.parametrize("kind", often(NAMES, ("pre", "post", "gpt2", "gpt_neox", "gemma2", "bart")))
def test_qk_and_ov_are_those_of_the_weights_in_float64(
    tmp_path: Path, config: TransformerConfig, tokenizer: Tokenizer, kind: str
) -> None:
    reader, names = opened(kind, tmp_path / kind, config, tokenizer), NAMES[kind]
    weights = {path: tensor.double() for path, tensor in reader.model.state_dict().items()}
    layers = {site.partition(".")[0]: len(heads) for site, heads in reader.abilities.heads.items()}
    for site, heads in reader.abilities.heads.items():
        copying = copying_scores(reader, site)
        recomputed = Recomputed(names, weights, site, heads[0], layers)
        for layer, head, distance in ((0, heads[0] - 1, 0), (len(heads) - 1, 1, 3 if names.rotated else 0)):
            found = head_circuits(reader, site, layer, head, distance=distance)
            every = torch.arange(len(found.keys))
            scores, writes = recomputed.circuits(layer, head, distance)
            for own, expected in ((found.scores(every, every), scores), (found.writes(every), writes)):
                torch.testing.assert_close(own.double(), expected, atol=1e-5 * float(expected.abs().max()), rtol=0)
            eigenvalues = torch.linalg.eigvals(writes)
            share = float(eigenvalues.real.sum() / eigenvalues.abs().sum())
            assert (found.copying, float(copying[layer, head])) == pytest.approx((share, share), abs=1e-3)


@pytest.mark.parametrize("name", ["llama", "gpt_neox", "gpt_oss"])
def test_scores_of_rotary_models_are_those_of_two_places_at_the_distance(tmp_path: Path, name: str) -> None:
    reader = open_reader(save_model(tmp_path, name, "bytes"), device="cpu")
    trace = reader.trace("The dog was tired.")
    ids = torch.tensor(trace.target_ids)
    for distance in (0, 1, 4):
        found = head_circuits(reader, "decoder.self", 0, 3, distance=distance).scores(ids, ids).diagonal(-distance)
        real = trace.scores("decoder.self", 0, [3])[0].diagonal(-distance)
        torch.testing.assert_close(found, real, atol=1e-4, rtol=1e-4)
    assert reader.abilities.max_length == 96
    head_circuits(reader, "decoder.self", 0, 0, distance=95)
    with pytest.raises(DataError, match="from 0 to 95, got 96"):
        head_circuits(reader, "decoder.self", 0, 0, distance=96)


def test_a_head_that_writes_what_it_looks_at_copies() -> None:
    tokens = torch.randn(40, 6)
    for written, score in ((tokens.T, 1), (-tokens.T, -1)):
        head = HeadCircuits(queries=tokens, keys=tokens, values=tokens, written=written, scale=1.0)
        assert head.copying == pytest.approx(score)
    assert copying_score(1e-3 * torch.eye(3)) == pytest.approx(1)
    assert copying_score(torch.zeros(3, 3)) == 0


def test_the_best_pairs_are_those_of_all_scores(translator: Translator, monkeypatch: pytest.MonkeyPatch) -> None:
    circuits = head_circuits(translator, "decoder.cross", 1, 1)
    every = torch.arange(len(circuits.keys))
    scores = circuits.scores(every, every)
    monkeypatch.setattr("model.analysis.head_circuits.QUERIES_AT_ONCE", 7)
    monkeypatch.setattr("model.analysis.head_circuits.KEYS_AT_ONCE", 50)
    told: list[int] = []
    best = circuits.best_pairs(7, told.append)
    assert (sum(told), max(told)) == (len(every), 7)
    assert [pair.score for pair in best] == pytest.approx(scores.flatten().topk(7).values.tolist(), abs=1e-5)
    assert [float(scores[pair.query, pair.key]) for pair in best] == pytest.approx([pair.score for pair in best])


@pytest.mark.parametrize("site", ["encoder.self", "decoder.self", "decoder.cross"])
def test_weights_by_tokens_are_shares_and_the_mask_holds(
    config: TransformerConfig, tokenizer: Tokenizer, site: str
) -> None:
    unordered = Translator(Transformer(replace(config, positions="none")), tokenizer, name="x")
    trace = unordered.trace("The dog was tired.", "Das Tier war müde.")
    weights, mask = head_circuits(unordered, site, 0, 1).weights(trace, site, 0), trace.mask(site, 0)
    torch.testing.assert_close(weights.sum(-1), torch.ones(len(weights)))
    assert (weights[~mask] == 0).all()
    if site != "decoder.cross":
        torch.testing.assert_close(weights, trace.weights(site, 0, [1])[0], atol=1e-5, rtol=1e-4)


def test_a_head_that_is_not_there_and_other_scores_are_refused(translator: Translator) -> None:
    with pytest.raises(DataError, match=r"decoder\.cross has 2 layers; there is no layer 2, head 0"):
        head_circuits(translator, "decoder.cross", 2, 0)
    additive = Translator(Transformer(replace(translator.config, score="additive")), translator.tokenizer, name="x")
    with pytest.raises(DataError, match="not dot products"):
        head_circuits(additive, "encoder.self", 0, 0)
