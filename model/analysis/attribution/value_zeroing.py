"""Value zeroing: how far each output of a layer turns when the values of one token are taken away.

Mohebbi, Zuidema, Chrupała & Alishahi 2023 ("Quantifying Context Mixing in Transformers"): the distance is 1 − cosine,
of outputs of the whole layer, with its residual connections, norms and feed-forward network; rows are scaled to sum to
1 and followed through the layers as in rollout. The paper does so for encoders; in a decoder's layer the values of both
attentions, over the prefix and over the memory, are taken away one by one, and share a row.
"""

from collections.abc import Callable
from functools import partial

import torch
from jaxtyping import Float
from torch import Tensor, nn

from model.analysis.attribution.choice import TokenChoice
from model.analysis.attribution.gradients import TokenScores
from model.analysis.attribution.mixing import DecoderMix, shares, through_decoder, through_encoder
from model.nn.encoder_decoder import site_path
from model.nn.hooks import listen
from model.nn.masks import AttentionMask
from model.nn.transformer import Transformer

#: Rows that are run through a layer at once.
ROWS_AT_ONCE = 4_000


@torch.inference_mode()
def value_zeroing(model: Transformer, choice: TokenChoice) -> TokenScores:
    """The share of each source token and of each token before in the row that makes the choice; they sum to 1."""
    device = model.projection.weight.device
    source, prefix = (torch.tensor([ids], device=device) for ids in (choice.source, choice.prefix))
    num_source, num_rows = source.size(1), prefix.size(1)
    within = AttentionMask(num_queries=num_source, num_keys=num_source, device=device)
    causal = AttentionMask(num_queries=num_rows, num_keys=num_rows, causal=True, device=device)
    across = AttentionMask(num_queries=num_rows, num_keys=num_source, device=device)

    x, encoder = model.encoder.embedding(source), []
    for number, layer in enumerate(model.encoder.layers):
        run = partial(_read, layer, within)
        encoder.append(shares(distances(run, x, site_path("encoder.self", number), num_source), _own(num_source)))
        x = run(x)
    memory = model.encoder.norm(x)

    x, decoder = model.decoder.embedding(prefix), []
    for number, layer in enumerate(model.decoder.layers):
        run = partial(_write, layer, memory, causal, across)
        sides = (("decoder.self", num_rows), ("decoder.cross", num_source))
        away = torch.cat([distances(run, x, site_path(site, number), keys) for site, keys in sides], dim=1)
        decoder.append(DecoderMix(*torch.split(shares(away, _own(num_rows)), [num_rows, num_source], dim=1)))
        x = run(x)
    rows = through_decoder(decoder, through_encoder(encoder))
    return TokenScores(rows.source[choice.row], rows.prefix[choice.row])


def _read(layer: nn.Module, mask: AttentionMask, x: Tensor) -> Tensor:
    result: Tensor = layer(x, mask)
    return result


def _write(layer: nn.Module, memory: Tensor, causal: AttentionMask, across: AttentionMask, x: Tensor) -> Tensor:
    result: Tensor = layer(x, memory.expand(len(x), -1, -1), causal, across)
    return result


def _own(count: int) -> Tensor:
    return torch.arange(count)


def distances(
    layer: Callable[[Tensor], Tensor], x: Float[Tensor, "1 row d_model"], path: str, keys: int
) -> Float[Tensor, "row key"]:
    """1 − cosine between a layer's outputs and those without the values of one key of an attention, on the CPU."""
    whole, columns = layer(x), []
    for some in torch.split(torch.arange(keys), max(1, ROWS_AT_ONCE // x.size(1))):

        def without(value: Tensor, some: Tensor = some) -> Tensor:
            zeroed = value.clone()
            zeroed[torch.arange(len(some)), :, some] = 0.0
            return zeroed

        with listen(edits={f"{path}.hook_value": without}):
            changed = layer(x.expand(len(some), -1, -1))
        columns.append(1 - torch.cosine_similarity(changed.float(), whole.float(), dim=-1))
    return torch.cat(columns).T.clamp_min(0.0).cpu()
