"""Count the parameters of each part of a Transformer from its configuration alone.

A test compares the formulas with the modules that `model.nn.transformer.Transformer` builds.
"""

from dataclasses import astuple, dataclass

from model.config import TransformerConfig


@dataclass(frozen=True, slots=True, kw_only=True)
class ParameterCounts:
    """Parameters of a model by part, all layers of a stack together.

    Attributes:
        embedding: source and target embeddings and output projection: a single matrix if they are shared (§3.4), else
            three, or two where only the output is tied; and the output's bias and the learned positions, if any.
        encoder_self_attention: W_Q, W_K, W_V and W_O of the encoder (§3.2.2), with biases, and what scores have
            learned.
        encoder_feed_forward: W_1 and W_2 of the encoder (§3.3), with biases.
        decoder_self_attention: as in the encoder.
        cross_attention: the same four matrices once more, for attention to the encoder's memory.
        decoder_feed_forward: as in the encoder.
        norms: gain and bias of every layer norm.
    """

    embedding: int
    encoder_self_attention: int
    encoder_feed_forward: int
    decoder_self_attention: int
    cross_attention: int
    decoder_feed_forward: int
    norms: int

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
    matrices = 1 if config.share_embeddings else 2 if config.tie_output else 3
    return ParameterCounts(
        embedding=matrices * config.vocab_size * d
        + (config.vocab_size if config.output_bias else 0)
        + (2 * config.num_positions * d if config.positions == "learned" else 0),
        encoder_self_attention=encoder_layers * attention,
        encoder_feed_forward=encoder_layers * feed_forward,
        decoder_self_attention=decoder_layers * attention,
        cross_attention=decoder_layers * attention,
        decoder_feed_forward=decoder_layers * feed_forward,
        norms=(2 * encoder_layers + 3 * decoder_layers + final_norms) * 2 * d,
    )
