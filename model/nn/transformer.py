"""The encoder–decoder Transformer (§3, figure 1), and its key/value cache."""

from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from model.config import TransformerConfig
from model.nn.encoder_decoder import EncoderDecoder, PrefixCache
from model.nn.hooks import name_hooks, rows_from
from model.nn.layers import DecoderLayer, Embedding, EncoderLayer, LayerCache, final_norm, initialise
from model.nn.masks import AttentionMask


class DecoderCache(PrefixCache):
    """Keys and values that decoding has computed so far, for every decoder layer."""

    def __init__(self, num_layers: int) -> None:
        self.layers = [LayerCache() for _ in range(num_layers)]

    def __len__(self) -> int:
        return len(self.layers[0].self_attention)

    def copy(self) -> "DecoderCache":
        """An independent cache of the same rows, which both share."""
        copied = DecoderCache(0)
        copied.layers = [layer.copy() for layer in self.layers]
        return copied

    def truncate(self, length: int) -> None:
        """Forget every target row from `length` on."""
        for layer in self.layers:
            layer.self_attention.truncate(length)

    def select(self, batch: Tensor) -> None:
        """Keep these sentences (or beams) of the batch, in this order."""
        for layer in self.layers:
            layer.select(batch)

    def select_prefixes(self, batch: Tensor) -> None:
        """Keep these beams, in this order, each of the same sentence as the row it replaces; the memory stays."""
        for layer in self.layers:
            layer.self_attention.select(batch)


class Encoder(nn.Module):
    """N encoder layers over the embedded source."""

    def __init__(self, config: TransformerConfig, tokens: nn.Embedding) -> None:
        super().__init__()
        self.embedding = Embedding(config, tokens)
        self.layers = nn.ModuleList(EncoderLayer(config) for _ in range(config.num_layers))
        self.norm = final_norm(config)

    def forward(
        self, source_ids: Int[Tensor, "batch source"], source_padding: Bool[Tensor, "batch source"] | None
    ) -> Float[Tensor, "batch source d_model"]:
        """The memory that the decoder attends to."""
        length = source_ids.size(1)
        mask = AttentionMask(num_queries=length, num_keys=length, key_padding=source_padding, device=source_ids.device)
        x = self.embedding(source_ids)
        for layer in self.layers:
            x = layer(x, mask)
        return self.norm(x)  # type: ignore[no-any-return]


class Decoder(nn.Module):
    """N decoder layers over the embedded target prefix and the memory."""

    def __init__(self, config: TransformerConfig, tokens: nn.Embedding) -> None:
        super().__init__()
        self.embedding = Embedding(config, tokens)
        self.layers = nn.ModuleList(DecoderLayer(config) for _ in range(config.decoder_layers))
        self.norm = final_norm(config)

    def forward(
        self,
        target_ids: Int[Tensor, "batch target"],
        memory: Float[Tensor, "batch source d_model"],
        source_padding: Bool[Tensor, "batch source"] | None,
        target_padding: Bool[Tensor, "batch target"] | None,
        cache: DecoderCache | None,
    ) -> Float[Tensor, "batch target d_model"]:
        """The last layer's output for these target rows, which follow those in the cache."""
        first, new = (0 if cache is None else len(cache)), target_ids.size(1)
        keys, device = first + new, target_ids.device
        self_mask = AttentionMask(
            num_queries=new, num_keys=keys, key_padding=target_padding, causal=True, first_query=first, device=device
        )
        cross_mask = AttentionMask(num_queries=new, num_keys=memory.size(1), key_padding=source_padding, device=device)
        with rows_from(first):
            x = self.embedding(target_ids, first)
            for i, layer in enumerate(self.layers):
                x = layer(x, memory, self_mask, cross_mask, None if cache is None else cache.layers[i])
        return self.norm(x)  # type: ignore[no-any-return]


class Transformer(EncoderDecoder):
    """Encoder, decoder and output projection; with shared embeddings the projection is the embedding matrix (§3.4).

    An entry of −∞ in the projection's bias, if it has one, forbids a token.
    """

    config: TransformerConfig
    encoder: Encoder
    decoder: Decoder

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.config = config
        source_tokens = nn.Embedding(config.vocab_size, config.d_model)
        target_tokens = source_tokens if config.share_embeddings else nn.Embedding(config.vocab_size, config.d_model)
        self.encoder = Encoder(config, source_tokens)
        self.decoder = Decoder(config, target_tokens)
        self.projection = nn.Linear(config.d_model, config.vocab_size, bias=config.output_bias)
        initialise(self)
        if config.share_embeddings or config.tie_output:
            self.projection.weight = target_tokens.weight
            nn.init.normal_(target_tokens.weight, std=config.d_model**-0.5)
        name_hooks(self)

    def new_cache(self) -> DecoderCache:
        """An empty cache for one decoding run."""
        return DecoderCache(self.config.decoder_layers)

    @property
    def last_hook(self) -> str:
        """The output of the last decoder layer, before the final norm of a pre-norm stack."""
        return f"decoder.layers.{self.config.decoder_layers - 1}.hook_output"

    def logits_at_last_hook(self, rows: Float[Tensor, "row d_model"]) -> Float[Tensor, "row vocab"]:
        """Final norm, where there is one, and projection."""
        return self.projection(self.decoder.norm(rows))  # type: ignore[no-any-return]
