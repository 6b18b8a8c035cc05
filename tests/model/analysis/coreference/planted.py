"""A translator whose heads look where a test tells them to."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch

from model import Translator
from model.nn.attention import AttentionInputs
from model.nn.masks import AttentionMask
from model.trace.trace import Trace

Plan = Callable[[Trace], torch.Tensor]
"""A trace with its real tokens → the key [layer, head, row] that each row looks at."""


def inputs_that_look_at(keys: torch.Tensor, num_keys: int) -> AttentionInputs:
    """Inputs of one layer whose weights are 1 at `keys` [head, row] and 0 elsewhere."""
    heads, rows = keys.shape
    query = 1000.0 * torch.nn.functional.one_hot(keys, num_keys).float()
    key = torch.eye(num_keys).expand(heads, num_keys, num_keys)
    mask = AttentionMask(num_queries=rows, num_keys=num_keys)
    return AttentionInputs(query=query, key=key, value=key, mask=mask, scale=1.0)


class PlantedTranslator(Translator):
    """Traces of `translator`, with one site's heads replaced as planned."""

    def __init__(self, translator: Translator, site: str, plan: Plan) -> None:
        super().__init__(translator.model, translator.tokenizer, languages=translator.languages)
        self.site, self.plan = site, plan

    def trace(self, *args: Any, **kwargs: Any) -> Trace:
        trace = super().trace(*args, **kwargs)
        num_keys = len(trace.axis_tokens(self.site)[1])
        planted = tuple(inputs_that_look_at(keys, num_keys) for keys in self.plan(trace))
        return replace(trace, inputs={**trace.inputs, self.site: planted})
