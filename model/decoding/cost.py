"""Count the multiply-adds of a decoding step, with the key/value cache and without it, from the configuration.

A test compares the formulas with what torch multiplies.
"""

from dataclasses import astuple, dataclass

from model.config import TransformerConfig


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """Multiply-adds (one product added to a sum; two floating-point operations) by part, all layers together.

    Attributes:
        self_projections: W_Q, W_K, W_V and W_O of the self attention (§3.2.2).
        self_attention: QKᵀ and weights · V among target rows (§3.2.1).
        cross_projections: W_Q and W_O of the cross attention; W_K and W_V of the memory where they are computed.
        cross_attention: QKᵀ and weights · V between target rows and the memory.
        feed_forward: W_1 and W_2 (§3.3).
        output_projection: logits of the one row that says what comes next.
    """

    self_projections: int
    self_attention: int
    cross_projections: int
    cross_attention: int
    feed_forward: int
    output_projection: int

    @property
    def total(self) -> int:
        """All multiply-adds."""
        return sum(astuple(self))


@dataclass(frozen=True, slots=True, kw_only=True)
class StepCost:
    """The cost of one decoding step of one sentence; the encoder has run before.

    Attributes:
        new_target_rows: target rows computed in this step: 1.
        reused_target_rows: target rows whose keys and values the cache holds, in every layer.
        new_source_rows: rows of the memory whose keys and values are computed in this step: all in step 0, then none.
        reused_source_rows: rows of the memory whose keys and values the cache holds, in every layer.
        reused_numbers: all numbers read from the cache: a key and a value of d_model for each reused row and layer.
        cached: what the step computes with the cache.
        recomputed: what it would compute if the decoder read the whole prefix again.
    """

    new_target_rows: int
    reused_target_rows: int
    new_source_rows: int
    reused_source_rows: int
    reused_numbers: int
    cached: Work
    recomputed: Work

    @property
    def saved(self) -> int:
        """Multiply-adds that the cache spares."""
        return self.recomputed.total - self.cached.total


def step_cost(config: TransformerConfig, source_length: int, step: int) -> StepCost:
    """Cost of the decoding step that follows `step` others, from a source of `source_length` tokens (with </s>).

    With d = d_model, S = source_length, n = step + 1 rows read, N decoder layers: r new rows, of which each attends to
    n keys, and m rows of the memory to project take

        self_projections   N · 4 r d²             cross_projections  N · (2 r d² + 2 m d²)
        self_attention     N · 2 r n d            cross_attention    N · 2 r S d
        feed_forward       N · 2 r d · d_ff       output_projection  d · vocab_size

    Scores vᵀ tanh(q + k) take as many as q · k, and a hyperbolic tangent each; bilinear ones r d · d_k more, for Q M.

    With the cache r = 1, and m = S in step 0, else 0. Without it r = n and m = S in every step. Causality spares
    nothing here: the kernels multiply a row with the keys that the mask hides, too. Not counted, with the cache or
    without: the encoder, which runs once; norms, softmax, biases, and sums of residual connections.
    """
    if source_length < 1 or step < 0:
        raise ValueError(f"a source has at least one token and steps count from 0, got {source_length} and {step}")
    is_first = step == 0
    reused_source_rows = 0 if is_first else source_length
    return StepCost(
        new_target_rows=1,
        reused_target_rows=step,
        new_source_rows=source_length - reused_source_rows,
        reused_source_rows=reused_source_rows,
        reused_numbers=config.decoder_layers * 2 * config.d_model * (step + reused_source_rows),
        cached=_work(config, source_length, step + 1, rows=1, memory_rows=source_length - reused_source_rows),
        recomputed=_work(config, source_length, step + 1, rows=step + 1, memory_rows=source_length),
    )


def _work(config: TransformerConfig, source_length: int, prefix_length: int, *, rows: int, memory_rows: int) -> Work:
    d, layers = config.d_model, config.decoder_layers
    bilinear = rows * d * config.d_k if config.score == "general" else 0
    return Work(
        self_projections=layers * 4 * rows * d * d,
        self_attention=layers * (2 * rows * prefix_length * d + bilinear),
        cross_projections=layers * 2 * (rows + memory_rows) * d * d,
        cross_attention=layers * (2 * rows * source_length * d + bilinear),
        feed_forward=layers * 2 * rows * d * config.d_ff,
        output_projection=d * config.vocab_size,
    )
