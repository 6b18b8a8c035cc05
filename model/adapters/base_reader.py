"""What all readers of Hugging Face models have in common: device, configuration, output projections."""

import copy
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any, NamedTuple, Self

import torch
from jaxtyping import Float
from torch import Tensor, nn

from model.abilities import Abilities, View
from model.adapters.layout import OUTPUTS, Layout
from model.adapters.placement import device_of
from model.errors import TraceError
from model.reader import Reader


class Opened(NamedTuple):
    """A model of `transformers`, and what was found of it when it was opened."""

    model: nn.Module
    layout: Layout
    abilities: Abilities
    #: name, digest: of its folder.
    name: str
    digest: str


class BaseReader(Reader):
    """A model of `transformers` in evaluation mode, with our attention where `abilities.knows_inputs`, else its own."""

    def __init__(self, opened: Opened) -> None:
        super().__init__(opened.model, name=opened.name, digest=opened.digest)
        self.layout, self._abilities = opened.layout, opened.abilities

    @property
    def device(self) -> torch.device:
        """Where the model reads; of one that is larger than its memory, not all weights are there."""
        return device_of(self.model)

    @property
    def d_model(self) -> int:
        """Width of the model, as its configuration names it."""
        return int(getattr(self.config, "d_model", None) or getattr(self.config, "hidden_size", None) or 1024)

    @property
    def abilities(self) -> Abilities:
        """What the model has and lacks."""
        return self._abilities

    def without(self, lacks: Mapping[View, str]) -> Self:
        """The same model, which does not claim these; the sentences say why."""
        made = copy.copy(self)
        generates = self.abilities.generates and "decoding" not in lacks
        made._abilities = replace(self.abilities, generates=generates, lacks={**self.abilities.lacks, **lacks})
        return made

    @property
    def config(self) -> Any:
        """The model's configuration, as the library has it."""
        return self.model.config

    def output_projection(self, site: str, layer: int) -> Float[Tensor, "head d_v d_model"]:
        """W_O of an attention site; this and the errors are as `model.reader.Reader` says."""
        return self.layout.known_projection(site, layer)

    def checked_extras(self, extras: Collection[str]) -> Collection[str]:
        """The same extras. Raises a TraceError if one is asked for that this model does not record."""
        if unknown := sorted(set(extras) - {OUTPUTS}):
            message = "{unknown} is not recorded for this model; scores and weights are derived from q and k."
            raise TraceError(message, unknown=unknown[0])
        if extras and "head outputs" in self.abilities.lacks:
            raise TraceError(self.abilities.lacks["head outputs"])
        return extras
