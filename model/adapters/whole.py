"""Tell whether a model was opened whole: one rule for the weights of every folder, GGUF file and adapter.

Every parameter that the model runs with comes from the folder. Every tensor of the folder is used, or is none that the
run could miss: a tie, a buffer, a head beside the one that the class has, or one that the class declares ignorable.
Names of models are never asked: a head is what lies in no stack of layers, and outside of the model beneath or where
another class of the same kind has one; whether a parameter is read is seen by a run in which it is not a number.
"""

import re
from collections.abc import Mapping, Sequence, Set
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import torch
from torch import Tensor, nn

from model.abilities import Reason, Whole
from model.adapters import library
from model.adapters.folder_check import read_tensor, tensor_shapes
from model.adapters.model_class import classes_beside
from model.adapters.probe import Probe
from model.adapters.proof import first_output
from model.errors import CheckpointError, Message, said

#: A single number that is at most this hides keys; none that is learned is.
_HIDES: Final = -1e3
_NUMBER: Final = re.compile(r"\b\d+\b")


@dataclass(frozen=True)
class Stored:
    """The tensors in some files of safetensors."""

    shapes: Mapping[str, tuple[int, ...]] = field(default_factory=dict)  #: by their names
    files: Mapping[str, Path] = field(default_factory=dict)  #: where each is

    @classmethod
    def of(cls, files: tuple[Path, ...]) -> "Stored":
        """Those of these files, by their headers. Raises a CheckpointError if one cannot be read."""
        found = {file: tensor_shapes(file) for file in files}
        shapes = {name: shape for each in found.values() for name, shape in each.items()}
        return cls(shapes, {name: file for file, each in found.items() for name in each})

    def read(self, name: str) -> Tensor:
        """One of them."""
        tensor: Tensor = read_tensor(self.files[name], name)
        return tensor


def find_whole(model: Any, loading: library.Loading, stored: Stored) -> tuple[Whole, str]:
    """What a model was made of, and what is wrong with that, as a part of a sentence; "" if nothing is.

    Whether what is `unread` is so indeed is for `check_run` to see. Where nothing is `stored` by name, it is the
    names that the library reports that are judged.
    """
    for name, (there, wanted) in sorted(loading.mismatched.items()):
        message = "they have {tensor} in the shape {there}, not {wanted}"
        return Whole(), said(message, tensor=name, there=_shape(there), wanted=_shape(wanted))
    unread = sorted(name for name in loading.missing if _is_learned(model, name))
    for name in unread:
        if _is_in_stack(name) or _get(model, name).is_meta:
            return Whole(), _lacks(name, len(unread))
    named = library.names_in(model, stored.shapes) or {name: name for name in loading.unexpected}
    own, unused = model.state_dict().keys(), dict[str, Reason]()
    beside = _Beside(model, stored)
    for tensor, to in sorted(named.items()):
        if to in own:
            continue
        reason = beside.reason(tensor, to) if to in loading.unexpected else "ignorable"
        if reason is None:
            message = "they contain {tensor}, which the class {made} does not have"
            return Whole(), said(message, tensor=tensor, made=type(model).__name__)
        unused[tensor] = reason
    computed = library.declared_computed(model, set(named.values()) | loading.missing) if stored.shapes else ()
    return Whole(used=len(named) - len(unused), unused=unused, unread=tuple(unread), computed=computed), ""


def check_whole(model: Any, loading: library.Loading, stored: Stored, name: str) -> Whole:
    """As `find_whole`. Raises a CheckpointError, which calls the folder `name`, if the model is not whole."""
    whole, wrong = find_whole(model, loading, stored)
    if wrong:
        raise _not_whole(name, wrong)
    return whole


def wrong_with_unread(model: nn.Module, whole: Whole, probe: Probe) -> str:
    """Which parameter that a folder lacks is read, as a part of a sentence; "" if none is.

    From now on, each of them is not a number.
    """
    with torch.no_grad(), library.settings_of_model(model):
        for name in whole.unread:
            if _is_read(model, [_get(model, name)], probe):
                return _lacks(name, len(whole.unread))
    return ""


def _is_read(model: nn.Module, tensors: Sequence[Tensor], probe: Probe) -> bool:
    """Whether what a model says of a probe depends on tensors, which are no numbers from now on."""
    for tensor in tensors:
        tensor.fill_(torch.nan)
    return bool(first_output(model(**probe.arguments(model))).isnan().any())


def check_run(model: nn.Module, whole: Whole, probe: Probe, name: str) -> Whole:
    """Let a model read a probe; the same `whole`, with what that does not run.

    Raises a CheckpointError, which calls its folder `name`, if it needs a parameter that the folder lacks, or leaves
    out a part of every layer.
    """
    with probe.few():
        return _checked_run(model, whole, probe, name)


def _checked_run(model: nn.Module, whole: Whole, probe: Probe, name: str) -> Whole:
    if wrong := wrong_with_unread(model, whole, probe):
        raise _not_whole(name, wrong)
    run: set[nn.Module] = set()
    with ExitStack() as stack, torch.inference_mode(), library.settings_of_model(model):
        for module in model.modules():
            stack.callback(module.register_forward_hook(lambda each, *_: run.add(each)).remove)
        model(**probe.arguments(model))
    if part := _never_run(model, run):
        message = (
            "{name} is only a part of a model: {part} never runs, because it attends to what another part computes. "
            "Open the folder of the whole model."
        )
        raise CheckpointError(message, name=name, part=part)
    return replace(whole, not_run=_not_run(model, run, probe))


def _not_run(model: nn.Module, run: Set[nn.Module], probe: Probe) -> tuple[str, ...]:
    """Modules outside of the stacks of layers that nothing runs, and whose parameters nothing else reads: a tower for
    pictures beside what reads a text.
    """
    held = {parameter for module in run for parameter in module.parameters(recurse=False)}
    found: list[str] = []
    for path, module in model.named_modules():
        parts = list(module.parameters())
        if not parts or _is_in_stack(f"{path}.weight.of") or path.startswith(tuple(f"{each}." for each in found)):
            continue
        if run.isdisjoint(module.modules()) and held.isdisjoint(parts) and not any(part.is_meta for part in parts):
            kept = [part.detach().clone() for part in parts]
            with torch.no_grad():
                is_read = _is_read(model, parts, probe)
                for part, value in zip(parts, kept, strict=True):
                    part.copy_(value)
            found += [] if is_read else [path]
    return tuple(found)


def _never_run(model: nn.Module, run: Set[nn.Module]) -> str:
    """A part of a layer that no layer runs, though one of the same kind beside it is run: cross-attention without
    an encoder. "" if there is none.
    """
    alike: dict[str, list[bool]] = {}
    for path, layer in model.named_modules():
        parts = {} if isinstance(layer, nn.ModuleList | nn.ModuleDict) else dict(layer.named_children())
        for name, part in parts.items():
            if next(part.children(), None) and _is_in_stack(f"{path}.{name}.weight.of"):
                beside = any(type(other) is type(part) and other in run for other in parts.values())
                alike.setdefault(f"{re.sub(_NUMBER, '*', path)}.{name}", []).append(beside and part not in run)
    return next((part for part, never in alike.items() if all(never)), "")


def _not_whole(name: str, wrong: str) -> CheckpointError:
    message = "The weights in {name} do not fit its config.json: {wrong}. Save the model or copy the folder again."
    return CheckpointError(message, name=name, wrong=wrong)


def _lacks(name: str, count: int) -> Message:
    if count == 1:
        return said("they lack {tensor}", tensor=name)
    return said("they lack {tensor} and {more} more", tensor=name, more=count - 1)


def _shape(sizes: tuple[int, ...]) -> str:
    return " × ".join(map(str, sizes)) or "1"


def _get(model: Any, name: str) -> Tensor:
    tensor: Tensor = model.get_parameter_or_buffer(name)
    return tensor


def _is_learned(model: Any, name: str) -> bool:
    """Whether a parameter or buffer can have been learned: indices are computed."""
    return _get(model, name).is_floating_point()


def _is_in_stack(name: str) -> bool:
    """Whether a name is of a module within one of several layers; the parts of a head may be numbered too."""
    return any(part.isdigit() for part in name.split(".")[:-2])


def _modules_around(model: Any, name: str) -> list[nn.Module]:
    """The modules of a model on the way to a tensor of this name, as far as there are any."""
    found: list[nn.Module] = []
    for part in name.split(".")[:-1]:
        within = (found[-1] if found else model)._modules.get(part)
        if within is None:
            break
        found.append(within)
    return found


class _Beside:
    """Tells why tensors of a folder that a model has no place for may be left."""

    def __init__(self, model: Any, stored: Stored) -> None:
        self.model, self.stored, self.prefix = model, stored, f"{model.base_model_prefix}."
        #: Whether the folder was saved with a head: what is not part of the model beneath has no prefix.
        self.is_prefixed = any(name.startswith(self.prefix) for name in stored.shapes)
        self.buffers = {name for name, _ in model.named_buffers()}
        self._of_others: set[str] | None = None

    def reason(self, tensor: str, to: str) -> Reason | None:
        """Why a tensor may be left, which the library calls `to`; None if it may not."""
        shape = self.stored.shapes.get(tensor)
        if not self.buffers.isdisjoint(self._names(to)):
            return "buffer"
        if shape is not None and _may_be_buffer(shape) and _is_buffer(self.stored.read(tensor)):
            return "buffer"
        if shape is not None and not _is_in_stack(to) and self._is_tie(tensor, shape):
            return "tie"
        return "head" if self._is_head(to) else None

    def _names(self, to: str) -> set[str]:
        """The names that a tensor has in models with and without a head."""
        return {to, f"{self.prefix}{to}", to.removeprefix(self.prefix)}

    def _is_tie(self, tensor: str, shape: tuple[int, ...]) -> bool:
        """Whether a matrix is equal to one that is used, and no layer's: a layer may be like another."""
        alike = [each for each in self.model.parameters() if tuple(each.shape) == shape and not each.is_meta]
        if len(shape) < 2 or not alike:
            return False
        value = self.stored.read(tensor)
        return any(torch.equal(value.to(each.device, each.dtype), each) for each in alike)

    def _is_head(self, to: str) -> bool:
        """Whether a tensor is of another head, or of what another class puts behind its layers."""
        if _is_in_stack(to):
            return False
        trunk = self.model.base_model
        within = to.removeprefix(self.prefix)
        if self.is_prefixed and within == to:
            around = [] if trunk is self.model else _modules_around(self.model, to)
            return not around or next(around[-1].parameters(recurse=False), None) is None
        return not _modules_around(trunk, within) and self._is_of_another(to)

    def _is_of_another(self, to: str) -> bool:
        if self._of_others is None:
            self._of_others = {name for each in classes_beside(self.model) for name in each.state_dict()}
        return not self._of_others.isdisjoint(self._names(to))


def _may_be_buffer(shape: tuple[int, ...]) -> bool:
    """Whether a tensor is worth reading to see whether it was computed: one number, a row, or a square."""
    sizes = [size for size in shape if size > 1]
    return len(sizes) < 2 or (len(sizes) == 2 and sizes[0] == sizes[1])


def _is_buffer(tensor: Tensor) -> bool:
    """Whether a tensor was computed: indices, a causal mask, the number that hides keys, or rotary frequencies."""
    values = tensor.squeeze()
    if not values.is_floating_point():
        return True
    if values.dim() == 0:
        return float(values) <= _HIDES
    if values.dim() == 2:
        return torch.equal(values, torch.ones_like(values).tril())
    if len(values) < 3 or not float(values[0]) == 1 > float(values[1]) > 0:
        return False
    logs = values.double().log()
    return torch.allclose(logs, logs[1] * torch.arange(len(values)))
