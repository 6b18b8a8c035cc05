"""The stream after the last layer is read before the final norm, and so is how far a head moves it."""

from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from model.adapters.text_reader import TextReader
from model.analysis.residual_stream.streams import moved_by, streams
from model.nn.edits import SwitchOff
from model.opening import open_reader

INDUCTION = Path("checkpoints/induction")
TEXT = "a b a"


def levels_of(model: Any, ids: tuple[int, ...]) -> Tensor:
    """What the first layer of a Llama reads and each layer puts out, by hooks on its modules; in float64."""
    found: list[Tensor] = []
    first, *_ = layers = list(model.model.layers)
    hooks = [first.register_forward_pre_hook(lambda _module, given: found.append(given[0][0]))]
    hooks += [layer.register_forward_hook(lambda _module, _given, output: found.append(output[0])) for layer in layers]
    with torch.inference_mode():
        model(torch.tensor([ids]))
    for hook in hooks:
        hook.remove()
    return torch.stack(found).double()


def test_how_far_a_head_moves_the_last_stream_is_counted_before_the_final_norm() -> None:
    reader = open_reader(INDUCTION)
    assert isinstance(reader, TextReader)
    trace = reader.trace(TEXT)
    before = streams(reader, trace)
    assert before is not None
    moved = moved_by(reader, trace, SwitchOff("decoder.self", 1, 2), before)
    assert moved is not None
    model: Any = reader.model
    output = model.model.layers[1].self_attn.o_proj
    own, columns = levels_of(model, trace.target_ids), slice(2 * output.in_features // 4, 3 * output.in_features // 4)
    kept = output.weight.detach().clone()
    with torch.no_grad():
        output.weight[:, columns] = 0
        without = levels_of(model, trace.target_ids)
        output.weight.copy_(kept)
    expected = (without - own).norm(dim=-1) / own.norm(dim=-1)
    assert expected[-1].max() > 0.01
    torch.testing.assert_close(moved.shares["decoder"].double(), expected, atol=1e-5, rtol=1e-3)
