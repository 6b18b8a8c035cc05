"""Streams, what each sub-layer adds, heads and the lens agree with a float64 forward pass written from the weights."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from model import Transformer, TransformerConfig, Translator
from model.analysis.residual_stream.streams import streams
from model.analysis.residual_stream.token_path import follow
from model.config import Norm
from model.errors import TraceError
from model.parts.weights import Kind, Stack, Sublayer
from model.tokenizer import Tokenizer
from tests.model.adapters.zoo import KINDS, random_reader

CLOSE = 1e-5  # of the largest number
FF: Kind = "feed_forward"
TEXT, TARGET = "The animal was too tired.", "It was old."


@dataclass
class Pass:
    """A stack by float64: its levels, what each sub-layer added (layer by layer), and what its queries are made of."""

    levels: list[Tensor]
    added: list[list[Tensor]] = field(default_factory=list)
    queries: list[list[Tensor]] = field(default_factory=list)  #: of each attention, before norms and rotation
    reads: list[Tensor] = field(default_factory=list)  #: what each feed-forward network reads
    last: Tensor | None = None  #: what the final norm puts out, or the last layer
    logits: Callable[[Tensor], Tensor] | None = None  #: of vectors of the stream

    def layer(self, *added: Tensor, x: Tensor, queries: list[Tensor], read: Tensor) -> Tensor:
        """Note a layer that is done, and go on with its output."""
        self.reads.append(read)
        self.added.append(list(added))
        self.queries.append(queries)
        self.levels.append(x)
        return x


class Weights:
    """The state dict of a model, or the part of it below a prefix, in float64."""

    def __init__(self, state: dict[str, Tensor], prefix: str = "") -> None:
        self.state, self.prefix = state, prefix

    def __call__(self, name: str) -> Tensor:
        return self.state[f"{self.prefix}{name}"].double()

    def below(self, prefix: str) -> "Weights":
        return Weights(self.state, f"{self.prefix}{prefix}")

    def has(self, name: str) -> bool:
        return f"{self.prefix}{name}" in self.state

    def linear(self, name: str, x: Tensor) -> Tensor:
        """A torch Linear."""
        return F.linear(x, self(f"{name}.weight"), self(f"{name}.bias") if self.has(f"{name}.bias") else None)

    def norm(self, name: str, x: Tensor, epsilon: float = 1e-5) -> Tensor:
        """A LayerNorm."""
        return F.layer_norm(x, x.shape[-1:], self(f"{name}.weight"), self(f"{name}.bias"), epsilon)

    def rms(self, name: str, x: Tensor, epsilon: float = 1e-6, plus: float = 0.0) -> Tensor:
        """An RMS norm, whose gain some hold without the 1."""
        return x / (x.square().mean(-1, keepdim=True) + epsilon).sqrt() * (self(f"{name}.weight") + plus)


def heads(x: Tensor, count: int) -> Tensor:
    return x.view(len(x), count, -1).transpose(0, 1)


def attend(
    q: Tensor, k: Tensor, v: Tensor, *, scale: float | None = None, causal: bool = False, window: int | None = None,
    bias: Tensor | float = 0.0, cap: float | None = None,
) -> Tensor:  # fmt: skip
    """softmax(q kᵀ · scale) v of each head, joined; keys and values may serve several heads."""
    k, v = (each.repeat_interleave(len(q) // len(each), 0) for each in (k, v))
    scores = q @ k.transpose(1, 2) * (q.size(-1) ** -0.5 if scale is None else scale)
    scores = (scores if cap is None else cap * (scores / cap).tanh()) + bias
    behind = torch.arange(q.size(1))[:, None] - torch.arange(k.size(1))
    hidden = torch.zeros_like(behind, dtype=torch.bool)
    hidden |= (behind < 0) & causal
    hidden |= behind >= (window or k.size(1) + 1)
    return (scores.masked_fill(hidden, -torch.inf).softmax(-1) @ v).transpose(0, 1).flatten(1)


def turned(x: Tensor, base: float = 1e4, width: int | None = None) -> Tensor:
    """Rotary positions of the first numbers of each vector, in two halves (Su et al. 2021)."""
    width = width or x.size(-1)
    angles = torch.arange(x.size(1))[:, None] * base ** (-torch.arange(0, width, 2).double() / width)
    cos, sin = angles.cos().repeat(1, 2), angles.sin().repeat(1, 2)
    part, rest = x[..., :width], x[..., width:]
    one, other = part.chunk(2, -1)
    return torch.cat((part * cos + torch.cat((-other, one), -1) * sin, rest), -1)


def gpt2(w: Weights, ids: Tensor, _: Tensor) -> dict[Stack, Pass]:
    x = w("transformer.wte.weight")[ids] + w("transformer.wpe.weight")[: len(ids)]
    done = Pass([x])
    for number in range(2):
        of = w.below(f"transformer.h.{number}.")

        def conv(name: str, y: Tensor, of: Weights = of) -> Tensor:
            return y @ of(f"{name}.weight") + of(f"{name}.bias")

        q, k, v = (heads(each, 4) for each in conv("attn.c_attn", of.norm("ln_1", x)).chunk(3, -1))
        own = conv("attn.c_proj", attend(q, k, v, causal=True))
        read = of.norm("ln_2", x + own)
        network = conv("mlp.c_proj", F.gelu(conv("mlp.c_fc", read), approximate="tanh"))
        x = done.layer(own, network, x=x + own + network, queries=[q], read=read)
    done.logits = lambda y: w.norm("transformer.ln_f", y) @ w("lm_head.weight").T
    return {"decoder": done}


def llama(
    w: Weights, ids: Tensor, _: Tensor, *, base: float = 1e4, epsilon: float = 1e-6, window: int | None = None,
    has_experts: bool = False,
) -> dict[Stack, Pass]:  # fmt: skip
    """Llama, Mistral, Qwen 3 (norms of queries and keys) and Mixtral (experts)."""
    x = w("model.embed_tokens.weight")[ids]
    done = Pass([x])
    for number in range(2):
        of = w.below(f"model.layers.{number}.")
        read = of.rms("input_layernorm", x, epsilon)
        q, k, v = (
            heads(of.linear(f"self_attn.{name}_proj", read), count) for name, count in (("q", 4), ("k", 2), ("v", 2))
        )
        raw = q
        if of.has("self_attn.q_norm.weight"):
            q, k = of.rms("self_attn.q_norm", q), of.rms("self_attn.k_norm", k)
        own = of.linear("self_attn.o_proj", attend(turned(q, base), turned(k, base), v, causal=True, window=window))
        read = of.rms("post_attention_layernorm", x + own, epsilon)
        network = experts(of, read) if has_experts else gated(of, read, F.silu)
        x = done.layer(own, network, x=x + own + network, queries=[raw], read=read)
    done.logits = lambda y: w.rms("model.norm", y, epsilon) @ w("lm_head.weight").T
    return {"decoder": done}


def gated(of: Weights, read: Tensor, activation: Callable[[Tensor], Tensor]) -> Tensor:
    return of.linear("mlp.down_proj", activation(of.linear("mlp.gate_proj", read)) * of.linear("mlp.up_proj", read))


def experts(of: Weights, read: Tensor) -> Tensor:
    """Two of four experts a row, weighted by their shares of both (Jiang et al. 2024, arXiv 2401.04088)."""
    shares, chosen = of.linear("mlp.gate", read).softmax(-1).topk(2, -1)
    rows = []
    for row, share, of_row in zip(read, shares / shares.sum(-1, keepdim=True), chosen, strict=True):
        both = [of("mlp.experts.gate_up_proj")[each] @ row for each in of_row]
        units = [F.silu(gate) * up for gate, up in (each.chunk(2) for each in both)]
        put_out = [of("mlp.experts.down_proj")[each] @ unit for each, unit in zip(of_row, units, strict=True)]
        rows.append(share[0] * put_out[0] + share[1] * put_out[1])
    return torch.stack(rows)


def gemma2(w: Weights, ids: Tensor, _: Tensor) -> dict[Stack, Pass]:
    x = w("model.embed_tokens.weight")[ids] * 32**0.5
    done = Pass([x])
    for number in range(2):
        of = w.below(f"model.layers.{number}.")
        read = of.rms("input_layernorm", x, plus=1)
        q, k, v = (
            heads(of.linear(f"self_attn.{name}_proj", read), count) for name, count in (("q", 4), ("k", 2), ("v", 2))
        )
        window = None if number else 5
        mixed = attend(turned(q), turned(k), v, scale=8**-0.5, causal=True, window=window, cap=2.0)
        own = of.rms("post_attention_layernorm", of.linear("self_attn.o_proj", mixed), plus=1)
        read = of.rms("pre_feedforward_layernorm", x + own, plus=1)
        units = gated(of, read, lambda y: F.gelu(y, approximate="tanh"))
        network = of.rms("post_feedforward_layernorm", units, plus=1)
        x = done.layer(own, network, x=x + own + network, queries=[q], read=read)
    done.logits = lambda y: 30 * (w.rms("model.norm", y, plus=1) @ w("lm_head.weight").T / 30).tanh()
    return {"decoder": done}


def gpt_neox(w: Weights, ids: Tensor, _: Tensor) -> dict[Stack, Pass]:
    """Attention and feed-forward in parallel, each with a norm of its own; a quarter of each query is turned."""
    x = w("gpt_neox.embed_in.weight")[ids]
    done = Pass([x])
    for number in range(2):
        of = w.below(f"gpt_neox.layers.{number}.")
        joined = of.linear("attention.query_key_value", of.norm("input_layernorm", x))
        q, k, v = heads(joined, 4).chunk(3, -1)
        own = of.linear("attention.dense", attend(turned(q, width=2), turned(k, width=2), v, causal=True))
        read = of.norm("post_attention_layernorm", x)
        network = of.linear("mlp.dense_4h_to_h", F.gelu(of.linear("mlp.dense_h_to_4h", read)))
        x = done.layer(own, network, x=x + own + network, queries=[q], read=read)
    done.logits = lambda y: w.norm("gpt_neox.final_layer_norm", y) @ w("lm_head.weight").T
    return {"decoder": done}


def phi(w: Weights, ids: Tensor, _: Tensor) -> dict[Stack, Pass]:
    """Attention and feed-forward in parallel, behind the same norm."""
    x = w("model.embed_tokens.weight")[ids]
    done = Pass([x])
    for number in range(2):
        of = w.below(f"model.layers.{number}.")
        read = of.norm("input_layernorm", x)
        q, k, v = (heads(of.linear(f"self_attn.{name}_proj", read), 4) for name in "qkv")
        own = of.linear("self_attn.dense", attend(turned(q, width=4), turned(k, width=4), v, causal=True))
        network = of.linear("mlp.fc2", F.gelu(of.linear("mlp.fc1", read), approximate="tanh"))
        x = done.layer(own, network, x=x + own + network, queries=[q], read=read)
    done.logits = lambda y: w.linear("lm_head", w.norm("model.final_layernorm", y))
    return {"decoder": done}


def bert(w: Weights, _: Tensor, ids: Tensor) -> dict[Stack, Pass]:
    of = w.below("embeddings.")
    tokens = of("word_embeddings.weight")[ids] + of("token_type_embeddings.weight")[0]
    x = of.norm("LayerNorm", tokens + of("position_embeddings.weight")[: len(ids)], 1e-12)
    done = Pass([x])
    for number in range(2):
        of = w.below(f"encoder.layer.{number}.")
        q, k, v = (heads(of.linear(f"attention.self.{name}", x), 4) for name in ("query", "key", "value"))
        own = of.linear("attention.output.dense", attend(q, k, v))
        x = of.norm("attention.output.LayerNorm", x + own, 1e-12)
        network = of.linear("output.dense", F.gelu(of.linear("intermediate.dense", x)))
        x = done.layer(own, network, x=of.norm("output.LayerNorm", x + network, 1e-12), queries=[q], read=x)
    return {"encoder": done}


def bart(w: Weights, target: Tensor, source: Tensor, *, first: int = 2) -> dict[Stack, Pass]:
    """BART, and Marian, whose positions begin with the first row of their table."""
    found: dict[Stack, Pass] = {}
    sides: tuple[tuple[Stack, Tensor, int, int], ...] = (("encoder", source, 3, 4), ("decoder", target, 2, 2))
    for stack, ids, layers, count in sides:
        side = w.below(f"model.{stack}.")
        x = side("embed_tokens.weight")[ids] + side("embed_positions.weight")[first : first + len(ids)]
        x = side.norm("layernorm_embedding", x) if side.has("layernorm_embedding.weight") else x
        found[stack] = done = Pass([x])
        for number in range(layers):
            of, added, queries = side.below(f"layers.{number}."), [], []
            for name in ("self_attn", "encoder_attn")[: 1 + (stack == "decoder")]:
                keys = x if name == "self_attn" else found["encoder"].levels[-1]
                parts = (("q_proj", x), ("k_proj", keys), ("v_proj", keys))
                q, k, v = (heads(of.linear(f"{name}.{part}", read), count) for part, read in parts)
                causal = stack == "decoder" and name == "self_attn"
                added.append(of.linear(f"{name}.out_proj", attend(q, k, v, causal=causal)))
                queries.append(q)
                x = of.norm(f"{name}_layer_norm", x + added[-1])
            added.append(of.linear("fc2", F.gelu(of.linear("fc1", x))))
            x = done.layer(*added, x=of.norm("final_layer_norm", x + added[-1]), queries=queries, read=x)
    found["decoder"].logits = lambda y: y @ w("lm_head.weight").T + w("final_logits_bias")[0]
    return found


def buckets(rows: int, is_both_ways: bool) -> Tensor:
    """The bucket of each key for each query, 8 of them up to a distance of 12 (Raffel et al. 2020, §2.1)."""
    ahead = torch.arange(rows) - torch.arange(rows)[:, None]
    half = 4 if is_both_ways else 8
    first = half * (ahead > 0) if is_both_ways else torch.zeros_like(ahead)
    distance = ahead.abs() if is_both_ways else (-ahead).clamp_min(0)
    exact = half // 2
    far = exact + ((distance.clamp_min(1) / exact).log() / torch.tensor(12 / exact).log() * (half - exact)).long()
    return first + torch.where(distance < exact, distance, far.clamp_max(half - 1))


def t5(w: Weights, target: Tensor, source: Tensor) -> dict[Stack, Pass]:
    found: dict[Stack, Pass] = {}
    sides: tuple[tuple[Stack, Tensor, int], ...] = (("encoder", source, 3), ("decoder", target, 2))
    for stack, ids, layers in sides:
        side, is_decoder = w.below(f"{stack}."), stack == "decoder"
        x = w("shared.weight")[ids]
        table = side("block.0.layer.0.SelfAttention.relative_attention_bias.weight")
        bias = table[buckets(len(ids), not is_decoder)].permute(2, 0, 1)
        found[stack] = done = Pass([x])
        for number in range(layers):
            of, added, queries = side.below(f"block.{number}.layer."), [], []
            for at, name in enumerate(("SelfAttention", "EncDecAttention")[: 1 + is_decoder]):
                read = of.rms(f"{at}.layer_norm", x)
                keys = found["encoder"].last if at else read
                assert keys is not None
                parts = (("q", read), ("k", keys), ("v", keys))
                q, k, v = (heads(of.linear(f"{at}.{name}.{part}", each), 4) for part, each in parts)
                mixed = attend(q, k, v, scale=1.0, causal=is_decoder and not at, bias=0.0 if at else bias)
                added.append(of.linear(f"{at}.{name}.o", mixed))
                queries.append(q)
                x = x + added[-1]
            at = 1 + is_decoder
            read = of.rms(f"{at}.layer_norm", x)
            added.append(of.linear(f"{at}.DenseReluDense.wo", of.linear(f"{at}.DenseReluDense.wi", read).relu()))
            x = done.layer(*added, x=x + added[-1], queries=queries, read=read)
        done.last = side.rms("final_layer_norm", x)
    decoder = w.below("decoder.")
    found["decoder"].logits = lambda y: decoder.rms("final_layer_norm", y) * 32**-0.5 @ w("lm_head.weight").T
    return found


def ours(w: Weights, target: Tensor, source: Tensor, *, norm: Norm) -> dict[Stack, Pass]:
    """The paper's model (§3): norms before the sub-layers or after the sums, sinusoids."""
    found: dict[Stack, Pass] = {}
    sides: tuple[tuple[Stack, Tensor, int], ...] = (("encoder", source, 2), ("decoder", target, 2))
    for stack, ids, layers in sides:
        side = w.below(f"{stack}.")
        angles = torch.arange(len(ids))[:, None] / 1e4 ** (torch.arange(0, 32, 2).double() / 32)
        positions = torch.stack((angles.sin(), angles.cos()), -1).flatten(1)
        x = side("embedding.tokens.weight")[ids] * 32**0.5 + positions
        found[stack] = done = Pass([x])
        kinds = ("self_attention", "cross_attention", "feed_forward")
        for number in range(layers):
            of, added, queries = side.below(f"layers.{number}."), [], []
            for name in kinds if stack == "decoder" else (kinds[0], kinds[2]):
                read = of.norm(f"{name}_residual.norm", x) if norm == "pre" else x
                if name == "feed_forward":
                    added.append(of.linear(f"{name}.outer", of.linear(f"{name}.inner", read).relu()))
                else:
                    keys = found["encoder"].last if name == "cross_attention" else read
                    assert keys is not None
                    parts = (("query", read), ("key", keys), ("value", keys))
                    q, k, v = (heads(of.linear(f"{name}.{part}", each), 4) for part, each in parts)
                    causal = stack == "decoder" and name == "self_attention"
                    added.append(of.linear(f"{name}.output", attend(q, k, v, causal=causal)))
                    queries.append(q)
                x = x + added[-1] if norm == "pre" else of.norm(f"{name}_residual.norm", x + added[-1])
            done.layer(*added, x=x, queries=queries, read=read)
        done.last = side.norm("norm", x) if norm == "pre" else x

    def logits(y: Tensor) -> Tensor:
        return w.linear("projection", w.norm("decoder.norm", y) if norm == "pre" else y)

    found["decoder"].logits = logits
    return found


#: What is read: kind → its forward pass.
FORWARD: dict[str, Callable[..., dict[Stack, Pass]]] = {
    "ours, pre-norm": lambda *given: ours(*given, norm="pre"),
    "ours, post-norm": lambda *given: ours(*given, norm="post"),
    "gpt2": gpt2,
    "llama": llama,
    "qwen3": llama,
    "mistral": lambda *given: llama(*given, window=5),
    "mixtral": lambda *given: llama(*given, base=1e6, epsilon=1e-5, has_experts=True),
    "gemma2": gemma2,
    "gpt_neox": gpt_neox,
    "phi": phi,
    "bert": bert,
    "bart": bart,
    "marian": lambda *given: bart(*given, first=0),
    "t5": t5,
}


def reader_of(kind: str, config: TransformerConfig, tokenizer: Tokenizer) -> Any:
    """A random model, none of whose gains is 1 and none of whose biases is 0."""
    if not kind.startswith("ours"):
        return random_reader(kind)
    torch.manual_seed(5)
    model = Transformer(replace(config, norm="pre" if "pre" in kind else "post"))
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() == 1:
                parameter.add_(torch.randn_like(parameter), alpha=0.3)
    return Translator(model, tokenizer, name=kind, digest=kind)


def same(found: Tensor, expected: Tensor) -> None:
    assert found.shape == expected.shape
    assert float((found.double() - expected).abs().max()) <= CLOSE * float(expected.abs().max())


@torch.inference_mode()
@pytest.mark.parametrize("kind", FORWARD)
def test_streams_paths_weights_and_lens_are_those_of_a_pass_in_float64(
    kind: str, config: TransformerConfig, tokenizer: Tokenizer
) -> None:
    reader = reader_of(kind, config, tokenizer)
    has_target = isinstance(reader, Translator) or KINDS[kind] == "encoder-decoder"
    trace = reader.trace(TEXT, TARGET if has_target else None)
    ids = (torch.tensor(side, dtype=torch.long) for side in (trace.target_ids, trace.source_ids))
    passes = FORWARD[kind](Weights(reader.model.state_dict()), *ids)
    found, parts = streams(reader, trace), reader.parts
    assert found is not None
    assert set(found) == set(passes)
    for stack, done in passes.items():
        same(found[stack], torch.stack(done.levels))
        path = follow(reader, trace, stack, 2)
        additions = parts.run(trace).additions(stack)
        for number, (layer, added, queries) in enumerate(zip(path.layers, done.added, done.queries, strict=True)):
            for one, expected in zip(layer, added, strict=True):
                same(one.added, expected[2])
                if one.heads is not None:
                    whole = one.heads.parts.sum(0)
                    same(whole if one.heads.bias is None else whole + one.heads.bias, expected[2])
                assert (one.heads is None) == (one.kind == "feed_forward")
            if kind == "mixtral":
                with pytest.raises(TraceError, match="experts"):
                    parts.feed_forward(stack, number)
            else:
                network, norm = parts.feed_forward(stack, number), parts.norms(Sublayer(stack, number, FF)).of_output
                (put_out,) = network.outer(network.hidden(done.reads[number]))
                same(put_out if norm is None else norm(put_out), added[-1])
            for one, expected in zip(additions[number], queries, strict=False):
                site = Sublayer(stack, number, one.kind).site
                assert site is not None
                same(parts.attention(site, number).query(one.read), expected)
    if (logits := passes["decoder"].logits if "decoder" in passes else None) is not None:
        lens = reader.logit_lens(trace, top=parts.num_tokens)
        expected = torch.stack([logits(level[-len(trace.steps) :]).softmax(-1) for level in passes["decoder"].levels])
        same(lens.probabilities, expected.gather(-1, lens.token_ids))


class Adapted(torch.nn.Module):
    """A matrix and what is added to it, as LoRA does (Hu et al. 2021, arXiv 2106.09685)."""

    def __init__(self, whole: torch.nn.Module) -> None:
        super().__init__()
        self.whole = whole
        width_out, width_in = whole.get_parameter("weight").shape
        self.down = torch.nn.Linear(width_in, 3, bias=False)
        self.up = torch.nn.Linear(3, width_out, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        result: Tensor = self.whole(x) + self.up(self.down(x))
        return result


@torch.inference_mode()
@pytest.mark.parametrize(
    ("kind", "path"), [("llama", "model.layers.0.self_attn"), ("qwen3", "model.layers.1.self_attn")]
)
def test_weights_hold_what_is_added_to_a_matrix(kind: str, path: str) -> None:
    reader = random_reader(kind)
    torch.manual_seed(2)
    attention = reader.model.get_submodule(path)
    for name in ("q_proj", "v_proj"):
        setattr(attention, name, Adapted(attention.get_submodule(name)))
    x = torch.randn(5, reader.parts.attention("decoder.self", 0).query.weight.size(1))
    weights = reader.parts.attention("decoder.self", int(path.split(".")[2]))
    for name, found in (("q_proj", weights.query), ("k_proj", weights.key), ("v_proj", weights.value)):
        expected = attention.get_submodule(name).double()(x.double())
        same(found(x).transpose(0, 1).flatten(1), expected)
