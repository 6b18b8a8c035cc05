"""Join a model with the loss that it is trained to minimise."""

from collections.abc import Collection

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from model.nn.encoder_decoder import EncoderDecoder
from model.tokenizer import Tokenizer
from model.training.lexicon import PRONOUN_FORMS
from model.training.loss import smoothed_cross_entropy


class Objective(nn.Module):
    """A model together with what it is trained to minimise.

    Pronouns count `emphasis` times: one word of a sentence, and the one that takes most learning.
    """

    token_weights: Tensor

    def __init__(
        self, model: EncoderDecoder, smoothing: float, emphasis: float, pronoun_ids: Collection[int], *, bf16: bool
    ) -> None:
        super().__init__()
        self.model, self.smoothing, self.bf16 = model, smoothing, bf16
        weights = torch.ones(model.config.vocab_size, device=model.device)
        weights[sorted(pronoun_ids)] = emphasis
        self.register_buffer("token_weights", weights, persistent=False)

    def forward(
        self,
        source: Int[Tensor, "batch source"],
        target_in: Int[Tensor, "batch target"],
        target_out: Int[Tensor, "batch target"],
    ) -> Float[Tensor, ""]:
        """Mean loss over the target tokens."""
        pad_id = self.model.config.pad_id
        real, padding = target_out != pad_id, source != pad_id
        with torch.autocast(source.device.type, torch.bfloat16, enabled=self.bf16):
            memory = self.model.encode(source, padding)
            hidden = self.model.decode(target_in, memory, padding)
            logits = self.model.projection(hidden[real])
        emitted = target_out[real]
        return smoothed_cross_entropy(logits, emitted, self.smoothing, self.token_weights[emitted])


def pronoun_pieces(tokenizer: Tokenizer) -> set[int]:
    """Pieces that are a whole German personal pronoun of the third person, with or without a capital."""
    spelled = (word for pronoun in PRONOUN_FORMS for word in (pronoun, pronoun.capitalize()))
    return {ids[0] for word in spelled if len(ids := tokenizer.encode(word)) == 1}
