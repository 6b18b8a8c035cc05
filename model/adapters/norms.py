"""Find the norms of a model of `transformers`, and what they compute, without asking for a module's name."""

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from typing import Any, Final
from weakref import WeakKeyDictionary

import torch
from jaxtyping import Float
from torch import Tensor, nn

from model.adapters.placement import device_of, weight_of
from model.errors import said
from model.parts.weights import Norm, Stack

NORM_UNKNOWN: Final = said(
    "The final norm and the output projection of this model were not found, so its layers cannot be read."
)
#: Largest difference of two numbers that are the same, as a share of the largest, in half precision.
HALF: Final = 3e-2

_NORMS: Final[WeakKeyDictionary[nn.Module, dict[Stack, nn.Module | None]]] = WeakKeyDictionary()
#: Of each module by the width of its vectors.
_SEEN: Final[WeakKeyDictionary[nn.Module, dict[int, Norm]]] = WeakKeyDictionary()


def final_norm(
    model: nn.Module, stack: Stack = "decoder", given: Callable[[], Mapping[str, Any]] | None = None
) -> nn.Module | None:
    """The norm after the last layer of a stack; None where no module puts out what is read of the stack.

    A run finds it, once for each stack of a model: of what is `given` it as arguments, by default of two tokens.
    """
    found = _NORMS.setdefault(model, {})
    if stack not in found:
        found[stack] = _last_module(model, stack, (lambda: _two_tokens(model)) if given is None else given)
    return found[stack]


def _two_tokens(model: nn.Module) -> Mapping[str, Any]:
    whole: Any = model
    ids = torch.tensor([[1, 2]], device=device_of(model))
    return {"input_ids": ids} | ({"decoder_input_ids": ids} if whole.config.is_encoder_decoder else {})


@torch.inference_mode()
def _last_module(model: nn.Module, stack: Stack, given: Callable[[], Mapping[str, Any]]) -> nn.Module | None:
    """The first module outside the lists of layers that puts out what the head within a decoder reads; in other models,
    or without a head, what the stack returns."""
    whole: Any = model
    part: nn.Module = getattr(whole, f"get_{stack}")() if whole.config.is_encoder_decoder else whole.base_model
    head: Any = None if stack == "encoder" else whole.get_output_embeddings()
    if whole.config.is_encoder_decoder and head not in part.modules():
        head = None
    put_out: list[tuple[nn.Module, Tensor]] = []
    read: list[Tensor] = []

    def note(module: nn.Module, _given: Any, output: Any) -> None:
        if isinstance(output, Tensor):
            put_out.append((module, output))

    with ExitStack() as hooks:
        for module in outside_layers(model):
            if module is not head:
                hooks.callback(module.register_forward_hook(note).remove)
        if head is not None:
            hooks.callback(head.register_forward_pre_hook(lambda _module, given: read.append(given[0])).remove)
        else:
            hooks.callback(part.register_forward_hook(lambda _module, _given, output: read.append(output[0])).remove)
        whole(**{**given(), **({"use_cache": False} if stack == "decoder" else {})})
    return next((module for module, output in put_out if torch.equal(output, read[0])), None)


def outside_layers(model: nn.Module) -> list[nn.Module]:
    """The modules of a model that are in no list of modules."""
    lists = tuple(f"{name}." for name, module in model.named_modules() if isinstance(module, nn.ModuleList))
    return [module for name, module in model.named_modules() if not name.startswith(lists)]


@torch.inference_mode()
def is_norm(module: nn.Module, given: Float[Tensor, "*rows width"] | None) -> bool:
    """Whether a module with nothing but a gain and a bias puts out the same for vectors twice as long."""
    own = list(module.parameters())
    if given is None or any(True for _ in module.children()) or any(weights.dim() != 1 for weights in own):
        return False
    like = torch.empty(0) if not own or own[0].is_meta else own[0]
    rows = given.reshape(-1, given.size(-1))
    rows = (rows / rows.square().mean().sqrt()).to(like.device, own[0].dtype if own else torch.float32)
    once, twice = (module(factor * rows).float() for factor in (4, 8))
    return is_same(once, twice, HALF)


def norm_behind(norm: nn.Module, width: int, device: torch.device) -> Norm:
    """What a module computes that is a norm: seen, once, in what it makes of 1, −1, 1, …, and of the same moved by 1.

    Some hold what they multiply by, some what is added to 1; the only small number that one holds is ε.
    """
    seen = _SEEN.setdefault(norm, {})
    if width not in seen:
        seen[width] = _norm_behind(norm, width, device)
    return seen[width]


@torch.inference_mode()
def _norm_behind(norm: nn.Module, width: int, device: torch.device) -> Norm:
    dtype = next((weight.dtype for weight in norm.parameters()), torch.float32)
    signs = torch.ones(1, width, device=device, dtype=dtype)
    signs[:, 1::2] = -1
    plus, minus, moved = (norm(given)[0].float().cpu() for given in (signs, -signs, signs + 1))
    epsilon = next((value for value in vars(norm).values() if isinstance(value, float) and 0 < value < 0.1), 0.0)
    seen = (plus - minus) / 2 * signs[0].float().cpu() * (1 + epsilon) ** 0.5
    held = [weight for name, _ in norm.named_parameters() if (weight := weight_of(norm, name)) is not None]
    gains = [gain for weight in held for gain in (weight, weight + 1) if is_same(gain, seen, HALF)]
    return Norm(
        gain=min(gains, key=lambda gain: float((gain - seen).abs().max()), default=seen),
        bias=weight_of(norm, "bias"),
        epsilon=epsilon,
        is_centred=bool(torch.allclose(moved, plus, atol=0.05 * float(seen.abs().max()))),
    )


def is_same(one: Tensor, other: Tensor, close: float) -> bool:
    """Whether two tensors differ by no more than a share of the largest number."""
    return one.shape == other.shape and float((one - other).abs().max()) <= close * float(other.abs().max())
