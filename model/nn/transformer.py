"""The encoder–decoder Transformer (§3, figure 1)."""

from collections.abc import Sequence

from jaxtyping import Float
from torch import Tensor, nn

from model.config import TransformerConfig
from model.nn.encoder_decoder import Decoder, DecoderInputs, EncoderDecoder, LayerCache, Padding, SourceIds, TargetRows
from model.nn.hooks import name_hooks
from model.nn.layers import DecoderLayer, Embedding, EncoderLayer, final_norm, initialise
from model.nn.masks import AttentionMask


class Encoder(nn.Module):
    """N encoder layers over the embedded source."""

    def __init__(self, config: TransformerConfig, tokens: nn.Embedding) -> None:
        super().__init__()
        self.embedding = Embedding(config, tokens)
        self.layers = nn.ModuleList(EncoderLayer(config) for _ in range(config.num_layers))
        self.norm = final_norm(config)

    def forward(self, source_ids: SourceIds, source_padding: Padding) -> Float[Tensor, "batch source d_model"]:
        """The memory that the decoder attends to."""
        length = source_ids.size(1)
        mask = AttentionMask(num_queries=length, num_keys=length, key_padding=source_padding, device=source_ids.device)
        x = self.embedding(source_ids)
        for layer in self.layers:
            x = layer(x, mask)
        return self.norm(x)  # type: ignore[no-any-return]


class TransformerDecoder(Decoder):
    """N decoder layers over the embedded target prefix and the memory."""

    embedding: Embedding

    def __init__(self, config: TransformerConfig, tokens: nn.Embedding) -> None:
        super().__init__()
        self.embedding = Embedding(config, tokens)
        self.layers = nn.ModuleList(DecoderLayer(config) for _ in range(config.decoder_layers))
        self.norm = final_norm(config)

    def run_layers(self, x: TargetRows, inputs: DecoderInputs, caches: Sequence[LayerCache | None]) -> TargetRows:
        """Every layer, then the final norm, if there is one."""
        return self.norm(super().run_layers(x, inputs, caches))  # type: ignore[no-any-return]


class Transformer(EncoderDecoder):
    """Encoder, decoder and output projection; with shared embeddings the projection is the embedding matrix (§3.4)."""

    config: TransformerConfig
    encoder: Encoder
    decoder: TransformerDecoder

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.config = config
        source_tokens = nn.Embedding(config.vocab_size, config.d_model)
        target_tokens = source_tokens if config.share_embeddings else nn.Embedding(config.vocab_size, config.d_model)
        self.encoder = Encoder(config, source_tokens)
        self.decoder = TransformerDecoder(config, target_tokens)
        self.projection = nn.Linear(config.d_model, config.vocab_size, bias=False)
        initialise(self)
        if config.share_embeddings:
            self.projection.weight = target_tokens.weight
            nn.init.normal_(target_tokens.weight, std=config.d_model**-0.5)
        name_hooks(self)

    @property
    def last_hook(self) -> str:
        """The output of the last decoder layer, before the final norm of a pre-norm stack."""
        return f"decoder.layers.{self.config.decoder_layers - 1}.hook_output"

    def logits_at_last_hook(self, rows: Float[Tensor, "row d_model"]) -> Float[Tensor, "row vocab"]:
        """Final norm, where there is one, and projection."""
        return self.projection(self.decoder.norm(rows))  # type: ignore[no-any-return]
