"""Count what attention and a decoding step cost, with the key/value cache and without it, and a model's parameters.

All come from sizes alone; tests compare the formulas with what torch multiplies and with the modules that it builds.
"""

from dataclasses import astuple, dataclass, replace
from typing import TYPE_CHECKING

from model.config import TransformerConfig

if TYPE_CHECKING:
    from model.nn.masks import AttentionMask
    from model.trace.trace import Trace


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """Multiply-adds (one product added to a sum; two floating-point operations) by part, all layers together."""

    self_projections: int  #: W_Q, W_K, W_V and W_O of the self attention (§3.2.2)
    self_attention: int  #: QKᵀ and weights · V among target rows (§3.2.1)
    cross_projections: int  #: W_Q and W_O of the cross attention; W_K and W_V of the memory where they are computed
    cross_attention: int  #: QKᵀ and weights · V between target rows and the memory
    feed_forward: int  #: W_1 and W_2 (§3.3)
    output_projection: int  #: logits of the one row that says what comes next

    @property
    def total(self) -> int:
        """All multiply-adds."""
        return sum(astuple(self))


@dataclass(frozen=True, slots=True, kw_only=True)
class DecoderSizes:
    """The multiply-adds of a decoder by what they grow with, and the numbers that it caches; all layers together."""

    self_row: int  #: of W_Q, W_K, W_V and W_O of the self-attention, for each row that is computed
    self_pair: int  #: of QKᵀ and weights · V, for each row and each key that it attends to
    #: cross_row, cross_memory: of W_Q and W_O of the cross-attention, for each row, and of W_K and W_V, for each row of
    #: the memory; 0 without an encoder.
    cross_row: int = 0
    cross_memory: int = 0
    cross_pair: int = 0  #: as `self_pair`, for each row and each row of the memory
    score_row: int = 0  #: what a bilinear score takes more in each attention, for each row; 0 of dot products
    feed_forward_row: int  #: of W_1 and W_2, for each row
    output: int  #: of the output projection, for the one row that says what comes next
    #: self_numbers, cross_numbers: keys and values that are cached for each target row and each row of the memory.
    self_numbers: int
    cross_numbers: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class StepCost:
    """The cost of one decoding step of one sentence; an encoder has run before."""

    new_target_rows: int  #: target rows computed in this step: 1, and in the first all that the decoder is given
    reused_target_rows: int  #: target rows whose keys and values the cache holds, in every layer
    #: rows of the memory whose keys and values are computed in this step: all in step 0, then none.
    new_source_rows: int
    reused_source_rows: int  #: rows of the memory whose keys and values the cache holds, in every layer
    reused_numbers: int  #: all numbers read from the cache: keys and values of each reused row and layer
    cached: Work  #: what the step computes with the cache
    recomputed: Work  #: what it would compute if the decoder read the whole prefix again

    @property
    def saved(self) -> int:
        """Multiply-adds that the cache spares."""
        return self.recomputed.total - self.cached.total


def paper_sizes(layers: int, d: int, d_ff: int, vocab_size: int) -> DecoderSizes:
    """The sizes of the paper's decoder.

    With d = d_model and N layers: 4 d² for each row of a self-attention, 2 d² for each row of a cross-attention and as
    many for each of the memory, 2 d for each pair that attends, 2 d · d_ff for the feed-forward network, and
    d · vocab_size for the output.
    """
    return DecoderSizes(
        self_row=layers * 4 * d * d,
        self_pair=layers * 2 * d,
        cross_row=layers * 2 * d * d,
        cross_memory=layers * 2 * d * d,
        cross_pair=layers * 2 * d,
        feed_forward_row=layers * 2 * d * d_ff,
        output=d * vocab_size,
        self_numbers=layers * 2 * d,
        cross_numbers=layers * 2 * d,
    )


def decoder_sizes(config: TransformerConfig) -> DecoderSizes:
    """The sizes of one of our decoders, whatever computes its scores.

    Scores vᵀ tanh(q + k) take as many as q · k, and a hyperbolic tangent each; bilinear ones d · d_k more for each row,
    for Q M.
    """
    sizes = paper_sizes(config.decoder_layers, config.d_model, config.d_ff, config.vocab_size)
    score_row = config.decoder_layers * config.d_model * config.d_k if config.score == "general" else 0
    return replace(sizes, score_row=score_row)


def step_cost(sizes: DecoderSizes, source_length: int, step: int, prompt_length: int = 1) -> StepCost:
    """Cost of the decoding step that follows `step` others.

    With the cache a step computes one row, and the first one all that the decoder is given and the keys and values of
    the memory; without it every step computes all rows so far, and those of the memory. Causality spares nothing here:
    the kernels multiply a row with the keys that the mask hides, too. Not counted, with the cache or without: the
    encoder, which runs once; norms, softmax, biases, positions, and sums of residual connections.

    Args:
        source_length: tokens that an encoder reads (with </s>); 0 without one.
        step: from 0.
        prompt_length: tokens that the decoder is given: the one that begins a target, or the text of a decoder alone.
    """
    if step < 0 or prompt_length < 1 or source_length < (1 if sizes.cross_row else 0):
        raise ValueError(
            "a source (where there is an encoder) and a prompt have at least one token and steps count from 0, got "
            f"{source_length}, {prompt_length} and {step}"
        )
    is_first, rows = step == 0, prompt_length + step
    new_rows, new_source_rows = (rows, source_length) if is_first else (1, 0)
    return StepCost(
        new_target_rows=new_rows,
        reused_target_rows=rows - new_rows,
        new_source_rows=new_source_rows,
        reused_source_rows=source_length - new_source_rows,
        reused_numbers=sizes.self_numbers * (rows - new_rows) + sizes.cross_numbers * (source_length - new_source_rows),
        cached=_work(sizes, source_length, rows, new_rows=new_rows, memory_rows=new_source_rows),
        recomputed=_work(sizes, source_length, rows, new_rows=rows, memory_rows=source_length),
    )


def _work(sizes: DecoderSizes, source_length: int, keys: int, *, new_rows: int, memory_rows: int) -> Work:
    return Work(
        self_projections=sizes.self_row * new_rows,
        self_attention=(sizes.self_pair * keys + sizes.score_row) * new_rows,
        cross_projections=sizes.cross_row * new_rows + sizes.cross_memory * memory_rows,
        cross_attention=(sizes.cross_pair * source_length + (sizes.score_row if sizes.cross_row else 0)) * new_rows,
        feed_forward=sizes.feed_forward_row * new_rows,
        output_projection=sizes.output,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class AttentionCost:
    """What all attentions of a model take together for so many tokens."""

    multiply_adds: int  #: of QKᵀ and weights · V, with the keys that positions allow
    cached: int  #: numbers in the keys and values that a decoder keeps, or in those of an encoder alone
    weights: int  #: weights of all heads, those of masked keys too


def attention_cost(trace: "Trace", length: int, written: int | None = None) -> AttentionCost:
    """Cost of reading `length` tokens, by the sizes of a trace that knows its inputs.

    Each head multiplies n queries with the keys of their window, d_k + d_v times each; its weights are n × n. A decoder
    that attends to an encoder writes `written` tokens, by default as many as are read. Causality spares nothing:
    kernels multiply the masked half, too.
    """
    multiply_adds = cached = weights = 0
    rows = length if written is None or "decoder.cross" not in trace.sites else written
    decodes = "decoder.self" in trace.sites
    for site in trace.sites:
        queries, keys = length if site == "encoder.self" else rows, rows if site == "decoder.self" else length
        for layer in range(trace.layers_of(site)):
            inputs = trace.attention(site, layer)
            width = inputs.query.size(-1) + inputs.value.size(-1)
            multiply_adds += inputs.num_heads * queries * _keys_seen(inputs.mask, keys) * width
            if site != "encoder.self" or not decodes:
                cached += inputs.key.size(0) * keys * (inputs.key.size(-1) + inputs.value.size(-1))
            weights += inputs.num_heads * queries * keys
    return AttentionCost(multiply_adds=multiply_adds, cached=cached, weights=weights)


def _keys_seen(mask: "AttentionMask", length: int) -> int:
    """The most keys that one row may see."""
    seen = length if mask.chunk is None else min(length, mask.chunk)
    if mask.window is not None:
        seen = min(seen, mask.window if mask.causal else 2 * mask.window - 1)
    return seen


@dataclass(frozen=True, slots=True, kw_only=True)
class ParameterCounts:
    """Parameters of a model by part, all layers of a stack together."""

    #: source and target embeddings and output projection: a single matrix if they are shared (§3.4), else three, or two
    #: where only the output is tied; and the output's bias and the learned positions, if any.
    embedding: int
    #: W_Q, W_K, W_V and W_O of the encoder (§3.2.2), with biases, and what scores have learned.
    encoder_self_attention: int
    encoder_feed_forward: int  #: W_1 and W_2 of the encoder (§3.3), with biases
    decoder_self_attention: int  #: as in the encoder
    cross_attention: int  #: the same four matrices once more, for attention to the encoder's memory
    decoder_feed_forward: int  #: as in the encoder
    norms: int  #: gain and bias of every layer norm

    @property
    def total(self) -> int:
        """All parameters."""
        return sum(astuple(self))


def count_parameters(config: TransformerConfig) -> ParameterCounts:
    """Count the parameters of a model of this shape.

    With d = d_model: in each layer attention has 4 (d² + d), and d more if its scores are additive or d · d_k if they
    are bilinear; feed-forward 2 d · d_ff + d_ff + d, a norm 2 d. Every
    sub-layer has a norm, two a layer in the encoder and three in the decoder; a pre-norm stack has a final norm.
    """
    d, encoder_layers, decoder_layers = config.d_model, config.num_layers, config.decoder_layers
    learned_scores = {"additive": d, "general": d * config.d_k}.get(config.score, 0)
    attention = 4 * (d * d + d) + learned_scores
    feed_forward = 2 * d * config.d_ff + config.d_ff + d
    final_norms = 2 if config.norm == "pre" else 0
    matrices = 1 if config.share_embeddings else 3
    return ParameterCounts(
        embedding=matrices * config.vocab_size * d
        + (2 * config.num_positions * d if config.positions == "learned" else 0),
        encoder_self_attention=encoder_layers * attention,
        encoder_feed_forward=encoder_layers * feed_forward,
        decoder_self_attention=decoder_layers * attention,
        cross_attention=decoder_layers * attention,
        decoder_feed_forward=decoder_layers * feed_forward,
        norms=(2 * encoder_layers + 3 * decoder_layers + final_norms) * 2 * d,
    )
