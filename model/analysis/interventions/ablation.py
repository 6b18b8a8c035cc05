"""How much each head matters to a translation: its log-probability with the head switched off. Knows nothing of pages.

Michel, Levy & Neubig 2019 ("Are Sixteen Heads Really Better than One?", §3.2) switch off one head at a time and measure
what the task loses; here the measure is the log-probability of the tokens of one given translation.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import torch
from jaxtyping import Float
from torch import Tensor

from model.analysis.interventions.log_probs import log_probs_of
from model.nn.hooks import listen
from model.nn.transformer import SITES, Transformer, site_path
from model.translator import Translator


@dataclass(frozen=True, eq=False, kw_only=True)
class HeadAblation:
    """What each head adds to the log-probability of a given translation. Tensors lie on the CPU, in nats.

    Attributes:
        tokens: what the translation emits, </s> last; one per target row.
        log_probs: theirs, with every head on.
        changes: site → how each token's log-probability changes when one head is switched off.
    """

    tokens: tuple[str, ...]
    log_probs: Float[Tensor, "row"]
    changes: Mapping[str, Float[Tensor, "layer head row"]]

    def totals(self, site: str) -> Float[Tensor, "layer head"]:
        """Change of the whole translation's log-probability; below 0 where the head helps."""
        return self.changes[site].sum(-1)


@torch.inference_mode()
def ablate_heads(
    translator: Translator, text: str, target: str | None, progress: Callable[[int], object]
) -> HeadAblation:
    """Switch off each head of each site in turn, and read the translation along (teacher forcing).

    Args:
        translator: the model.
        text: the source sentence.
        target: the translation; None for the model's own, decoded greedily.
        progress: called after each layer of a site with the number of heads done since the last call.

    The heads of a layer are one batch: each sentence of it lacks another head.

    Raises:
        InputTextError: a text is blank or too long.
    """
    model, config = translator.model, translator.config
    if target is None:
        session = translator.decode(text)
        session.run()
        emitted = [step.token_id for step in session.steps]
    else:
        emitted = translator.target_ids(target)
    source = torch.tensor([translator.source_ids(text)], device=model.device)
    memory = model.encode(source)
    intact = _log_probs(model, memory, emitted)
    changes: dict[str, Tensor] = {}
    for site in SITES:
        layers = []
        for layer in range(config.equal_layers):
            with listen(edits={f"{site_path(site, layer)}.hook_head_output": _each_lacks_one}):
                read = model.encode(source.expand(config.num_heads, -1)) if site == "encoder.self" else memory
                layers.append(_log_probs(model, read.expand(config.num_heads, -1, -1), emitted) - intact)
            progress(config.num_heads)
        changes[site] = torch.stack(layers).cpu()
    return HeadAblation(
        tokens=translator.tokenizer.tokens(emitted), log_probs=intact[0].cpu(), changes=MappingProxyType(changes)
    )


def _each_lacks_one(output: Float[Tensor, "head head query d_v"]) -> Float[Tensor, "head head query d_v"]:
    """Sentence i of the batch without head i."""
    off = torch.eye(output.size(1), dtype=torch.bool, device=output.device)
    return output.masked_fill(off[:, :, None, None], 0.0)


def _log_probs(
    model: Transformer, memory: Float[Tensor, "batch source d_model"], emitted: list[int]
) -> Float[Tensor, "batch row"]:
    """Log-probability of every token of a translation, for each sentence of the batch."""
    read = torch.tensor([[model.config.bos_id, *emitted[:-1]]], device=memory.device)
    hidden = model.decode(read.expand(memory.size(0), -1), memory)
    chosen = torch.tensor(emitted, device=memory.device).repeat(memory.size(0))
    return log_probs_of(model, hidden.flatten(0, 1), chosen).view(memory.size(0), -1)
