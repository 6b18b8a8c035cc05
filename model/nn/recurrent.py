"""A GRU encoder–decoder with additive attention: the model of Bahdanau et al. 2015, arXiv 1409.0473.

The encoder reads the source in both directions; each token's annotation is both states side by side. Before a target
token is written, the decoder's state is scored against every annotation by a small network, and the annotations' mean
under the softmax of these scores is read together with the last token. Sections are those of the paper.
"""

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from model.earlier_configs import RecurrentConfig
from model.nn.attention import AttentionSite
from model.nn.encoder_decoder import EncoderDecoder
from model.nn.hooks import HookPoint, name_hooks, rows_from
from model.nn.key_value_cache import KeyValueCache
from model.nn.layers import Dropout
from model.nn.masks import AttentionMask
from model.nn.row_cache import RowCache
from model.nn.score_functions import Additive


class Alignment(AttentionSite):
    """score(s, h_j) = vᵀ tanh(W s + U h_j); the context is Σ_j softmax(scores)_j h_j (§3.1, A.1.2).

    W, U and v are `query`, `key` and `score_vector`; the annotations h_j are the values, as they are.
    """

    def __init__(self, config: RecurrentConfig) -> None:
        super().__init__(num_heads=1, d_v=2 * config.hidden_size)
        self.query = nn.Linear(config.hidden_size, config.alignment_size, bias=False)
        self.key = nn.Linear(2 * config.hidden_size, config.alignment_size)
        self.score_vector = nn.Parameter(torch.empty(1, config.alignment_size))

    @property
    def score(self) -> Additive:
        """vᵀ tanh(query + key)."""
        return Additive(self.score_vector)

    def keys_and_values(
        self, annotations: Float[Tensor, "batch source width"], cache: KeyValueCache | None
    ) -> tuple[Float[Tensor, "batch 1 source d_k"], Float[Tensor, "batch 1 source width"]]:
        """U h_j and h_j of every annotation, computed once for all steps (A.1.2)."""
        if cache is not None and cache.key is not None and cache.value is not None:
            return cache.key, cache.value
        key = self.hook_key(self.key(annotations)[:, None])
        value = self.hook_value(annotations[:, None])
        return (key, value) if cache is None else cache.append(key, value)

    def forward(
        self,
        state: Float[Tensor, "batch width"],
        key: Float[Tensor, "batch 1 source d_k"],
        value: Float[Tensor, "batch 1 source d_v"],
        mask: AttentionMask,
    ) -> Float[Tensor, "batch d_v"]:
        """The context vector of one state."""
        query = self.hook_query(self.query(state)[:, None, None])
        return self.attend(query, key, value, mask)[:, 0, 0]


class TokenEmbedding(nn.Module):
    """Embeddings of tokens, then dropout; a recurrent model needs no positions."""

    def __init__(self, config: RecurrentConfig, tokens: nn.Embedding) -> None:
        super().__init__()
        self.tokens, self.dropout = tokens, Dropout(config.dropout)
        self.hook_embedding = HookPoint()

    def forward(self, token_ids: Int[Tensor, "batch position"]) -> Float[Tensor, "batch position d_model"]:
        """Embed tokens."""
        return self.dropout(self.hook_embedding(self.tokens(token_ids)))  # type: ignore[no-any-return]


class RecurrentEncoder(nn.Module):
    """A bidirectional GRU over the embedded source (§3.2)."""

    def __init__(self, config: RecurrentConfig, tokens: nn.Embedding) -> None:
        super().__init__()
        self.embedding = TokenEmbedding(config, tokens)
        self.gru = nn.GRU(config.d_model, config.hidden_size, batch_first=True, bidirectional=True)

    def forward(
        self, source_ids: Int[Tensor, "batch source"], source_padding: Bool[Tensor, "batch source"] | None
    ) -> Float[Tensor, "batch source width"]:
        """The annotations: states forwards and backwards, side by side; zeros at padding."""
        embedded = self.embedding(source_ids)
        if source_padding is None:
            annotations: Tensor = self.gru(embedded)[0]
            return annotations
        # The way back begins at each sentence's own end.
        lengths = source_padding.sum(1).cpu()
        packed = pack_padded_sequence(embedded, lengths, batch_first=True, enforce_sorted=False)
        return pad_packed_sequence(self.gru(packed)[0], batch_first=True, total_length=source_ids.size(1))[0]


class RecurrentLayer(nn.Module):
    """One step s_i = GRU(s_{i−1}, [y_{i−1}; c_i]), where the context c_i is aligned by s_{i−1} (§3.1, A.2.2)."""

    def __init__(self, config: RecurrentConfig) -> None:
        super().__init__()
        self.cross_attention = Alignment(config)
        self.cell = nn.GRUCell(config.d_model + 2 * config.hidden_size, config.hidden_size)
        self.hook_output = HookPoint()

    def forward(
        self,
        embedded: Float[Tensor, "batch target d_model"],
        state: Float[Tensor, "batch hidden"],
        annotations: Float[Tensor, "batch source width"],
        mask: AttentionMask,
        first: int,
        cache: KeyValueCache | None,
    ) -> tuple[Float[Tensor, "batch target hidden"], Float[Tensor, "batch target width"]]:
        """States and contexts of these target rows, of which the first is row number `first`, one after the other."""
        key, value = self.cross_attention.keys_and_values(annotations, cache)
        states, contexts = [], []
        for row, read in enumerate(embedded.unbind(1)):
            with rows_from(first + row):
                contexts.append(self.cross_attention(state, key, value, mask))
                state = self.cell(torch.cat((read, contexts[-1]), dim=-1), state)
                state = self.hook_output(state[:, None])[:, 0]
            states.append(state)
        return torch.stack(states, dim=1), torch.stack(contexts, dim=1)


class RecurrentDecoder(nn.Module):
    """The first state, the recurrent layer, and the readout (§3.1, A.2.2)."""

    def __init__(self, config: RecurrentConfig, tokens: nn.Embedding) -> None:
        super().__init__()
        self.embedding, self.dropout = TokenEmbedding(config, tokens), Dropout(config.dropout)
        self.first_state = nn.Linear(config.hidden_size, config.hidden_size)
        self.layers = nn.ModuleList((RecurrentLayer(config),))
        # Two numbers for each that is put out, of which the larger counts: "maxout" (Goodfellow et al. 2013).
        self.readout = nn.Linear(config.d_model + 3 * config.hidden_size, 2 * config.d_model)
        self.hook_output = HookPoint()

    def forward(
        self,
        target_ids: Int[Tensor, "batch target"],
        annotations: Float[Tensor, "batch source width"],
        source_padding: Bool[Tensor, "batch source"] | None,
        target_padding: Bool[Tensor, "batch target"] | None,
        cache: RowCache | None,
    ) -> Float[Tensor, "batch target d_model"]:
        """What the projection reads for these target rows, which follow those in the cache.

        No state sees the rows after it, so `target_padding` changes nothing.
        """
        first = 0 if cache is None else len(cache)
        earlier = None if cache is None else cache.rows(0)
        # ←h_1 has read the whole source, backwards.
        backwards = annotations[:, 0, annotations.size(2) // 2 :]
        state = torch.tanh(self.first_state(backwards)) if earlier is None else earlier[:, -1]
        mask = AttentionMask(
            num_queries=1, num_keys=annotations.size(1), key_padding=source_padding, device=target_ids.device
        )
        embedded = self.embedding(target_ids)
        memory = None if cache is None else cache.attention[0]
        states, contexts = self.layers[0](embedded, state, annotations, mask, first, memory)
        if cache is not None:
            cache.append(0, states)
        pairs = self.readout(torch.cat((states, embedded, contexts), dim=-1)).unflatten(-1, (-1, 2))
        return self.hook_output(self.dropout(pairs.amax(-1)))  # type: ignore[no-any-return]


class RecurrentTranslator(EncoderDecoder):
    """Encoder, decoder and output projection; one embedding for source, target and output, as in the Transformers.

    Differs from the paper in that shared embedding, and in where torch's GRU applies the reset gate: after the
    recurrent matrix, not before it.
    """

    config: RecurrentConfig
    encoder: RecurrentEncoder
    decoder: RecurrentDecoder

    def __init__(self, config: RecurrentConfig) -> None:
        super().__init__()
        self.config = config
        tokens = nn.Embedding(config.vocab_size, config.d_model)
        self.encoder = RecurrentEncoder(config, tokens)
        self.decoder = RecurrentDecoder(config, tokens)
        self.projection = nn.Linear(config.d_model, config.vocab_size)
        self.projection.weight = tokens.weight
        self._initialise(tokens)
        name_hooks(self)

    def new_cache(self) -> RowCache:
        """An empty cache: the decoder's states."""
        return RowCache(1)

    @property
    def last_hook(self) -> str:
        """What the readout gives."""
        return "decoder.hook_output"

    def _initialise(self, tokens: nn.Embedding) -> None:
        """Orthogonal recurrent matrices (B.1), Xavier-uniform others, zero biases."""
        for name, parameter in self.named_parameters():
            if "weight_hh" in name:
                for gate in parameter.data.chunk(3):
                    nn.init.orthogonal_(gate)
            elif parameter.dim() == 2:
                nn.init.xavier_uniform_(parameter)
            else:
                nn.init.zeros_(parameter)
        nn.init.normal_(tokens.weight, std=tokens.embedding_dim**-0.5)
