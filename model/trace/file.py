"""Write a trace into one .npz file and read it again, without pickle.

`trace.json` (UTF-8 bytes) holds tokens, ids, steps, masks and edits; `SITE/LAYER/query|key|value` and `recorded/HOOK`
hold the tensors; `SITE/LAYER/held` the weights of a model that gives nothing else; a source says what of it is kept
(`Source.kept`).
For readers without Headlight, there are `source_tokens` and `target_tokens` as arrays of strings, and optionally
the weights as `SITE/weights` [layer, head, query, key].
"""

import json
from collections.abc import Mapping
from dataclasses import asdict
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, BinaryIO

import numpy as np
import torch
from torch import Tensor

from model import checked
from model.arrays_file import Array, TooLargeError, open_arrays, read_json, reason
from model.errors import TraceError, said
from model.file_writing import written_file
from model.nn.attention import AttentionInputs, WeightsOnly
from model.nn.edit_hooks import check_edit
from model.nn.edits import HeadEdit, MakeUniform, PointAt, SwitchOff
from model.nn.masks import AttentionMask
from model.nn.score_functions import DOT_PRODUCT, DistanceBias, ScoreFunction, read_score_function
from model.sources import SOURCES
from model.sources.source import WORD_BEGIN, Source
from model.tokenizer import SPECIAL_TOKENS
from model.trace.steps import DecodingStep
from model.trace.trace import Trace

FORMAT = "headlight-trace-1"
LARGEST = 2 * 1024**3
"""Bytes of unpacked content beyond which a file is refused."""

#: Bytes, about, of what is said of an array, and of a step with its candidates.
_ARRAY, _STEP = 300, 1_600

TARGET = ("target_ids", "target_tokens", "predicted_ids", "predicted_tokens")
MASK = ("causal", "first_query", "window", "chunk")


def save_trace(trace: Trace, path: str | Path, extra: Mapping[str, Array] | None = None) -> None:
    """Write a trace, and further arrays, whole or not at all. Raises as `written_path`."""
    with written_file(Path(path)) as file:
        write_trace(trace, file, extra)


def write_trace(trace: Trace, file: BinaryIO, extra: Mapping[str, Array] | None = None) -> None:
    """`save_trace` into an open file."""
    header: dict[str, Any] = {"format": FORMAT, "reader_key": trace.reader_key, "text": trace.text}
    header |= {"source": trace.source.kind, "translation": trace.translation}
    header |= {name: getattr(trace, name) for name in ("source_ids", "source_tokens", *TARGET)}
    header["steps"] = [step.as_fields() for step in trace.steps]
    header["sites"] = {site: [_layer_header(inputs) for inputs in layers] for site, layers in trace.inputs.items()}
    header["special_tokens"] = sorted(trace.special_tokens)
    header["edits"] = [{"kind": type(edit).__name__, **asdict(edit)} for edit in trace.edits]
    if trace.roles:
        header["roles"] = trace.roles
    arrays: dict[str, Array] = {
        "source_tokens": np.array(trace.source_tokens),
        "target_tokens": np.array(trace.target_tokens),
        **{f"recorded/{name}": _array(value) for name, value in trace.recorded.items()},
        **(extra or {}),
    }
    for site, layers in trace.inputs.items():
        for number, inputs in enumerate(layers):
            arrays |= {f"{site}/{number}/{part}": _array(value) for part, value in _layer_tensors(inputs).items()}
    fields, kept = trace.source.kept
    header |= fields
    arrays |= {name: _array(value) for name, value in kept.items()}
    arrays["trace.json"] = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    np.savez(file, **arrays)  # type: ignore[arg-type]


def weight_arrays(trace: Trace) -> dict[str, Array]:
    """All weights, as `SITE/weights` [layer, head, query, key]."""
    return {
        f"{site}/weights": np.stack([trace.weights(site, layer).numpy() for layer in range(len(layers))])
        for site, layers in trace.inputs.items()
    }


def expected_bytes(trace: Trace) -> int:
    """About how large the file without weights will be, without making it: the arrays, four bytes a number."""
    every = (inputs for layers in trace.inputs.values() for inputs in layers)
    held = [value for inputs in every for value in _layer_tensors(inputs).values()]
    values = (*trace.recorded.values(), *held)
    return 4 * sum(value.numel() for value in values) + _ARRAY * len(values) + _STEP * len(trace.steps)


def weight_bytes(trace: Trace) -> int:
    """What all weights take beside that."""
    every = (inputs for layers in trace.inputs.values() for inputs in layers)
    return 4 * sum(inputs.num_heads * inputs.mask.num_queries * inputs.mask.num_keys for inputs in every)


def load_trace(path: str | Path) -> Trace:
    """Read what `save_trace` wrote. Raises a TraceError if the file is missing, no trace, damaged, or too large."""
    path = Path(path)
    try:
        with path.open("rb") as file, open_arrays(file, LARGEST) as arrays:
            return _read(arrays)
    except FileNotFoundError as error:
        raise TraceError("There is no file {path}.", path=path) from error
    except TooLargeError as error:
        raise TraceError("{name} cannot be used: {error}.", name=path.name, error=reason(error)) from error
    except Exception as error:  # Whatever NumPy, torch and our own reading think of bytes from outside.
        message = "{name} is not a trace written by Headlight, or it is damaged ({reason})."
        raise TraceError(message, name=path.name, reason=reason(error)) from error


def _layer_header(inputs: AttentionInputs | WeightsOnly) -> dict[str, Any]:
    header = {part: getattr(inputs.mask, part) for part in MASK}
    if isinstance(inputs, WeightsOnly):
        return header | {"why": inputs.why}
    return header | {"scale": inputs.scale, "softcap": inputs.softcap, "score": inputs.score.name}


def _layer_tensors(inputs: AttentionInputs | WeightsOnly) -> dict[str, Tensor]:
    tensors: dict[str, Tensor | None] = {part: getattr(inputs.mask, part) for part in ("key_padding", "explicit")}
    if isinstance(inputs, WeightsOnly):
        tensors["held"] = inputs.held
    else:
        tensors |= {part: getattr(inputs, part) for part in ("query", "key", "value", "sinks")}
        tensors |= inputs.score.tensors
        is_table = isinstance(inputs.bias, DistanceBias)
        tensors |= {"distance_bias": inputs.bias.table} if is_table else {"bias": inputs.bias}  # type: ignore[union-attr, dict-item]
    return {part: value for part, value in tensors.items() if value is not None}


def _array(tensor: Tensor) -> Array:
    # NumPy has no bfloat16; float32 holds every one of its values.
    return (tensor.float() if tensor.is_floating_point() else tensor).cpu().numpy()


def _read(arrays: Mapping[str, Array]) -> Trace:
    header = read_json(arrays, "trace.json")
    if header["format"] != FORMAT:
        raise ValueError(said("format {found}, expected {expected}", found=header["format"], expected=FORMAT))
    # A file written before there were edits has none.
    edits = [_read_edit(values) for values in header.get("edits", [])]
    inputs = {
        site: tuple(_read_inputs(arrays, site, number, values, edits) for number, values in enumerate(layers))
        for site, layers in header["sites"].items()
    }
    steps = tuple(map(DecodingStep.from_fields, header["steps"]))
    names = (name for name in arrays if name.startswith("recorded/"))
    recorded = {name.removeprefix("recorded/"): _tensor(arrays, name) for name in names}
    tokens: dict[str, Any] = {name: tuple(header[name]) for name in TARGET}
    trace = Trace(
        reader_key=str(header.get("reader_key", "")),
        source=_read_source(arrays, header),
        translation=str(header["translation"]),
        **tokens,
        steps=steps,
        inputs=MappingProxyType(inputs),
        recorded=MappingProxyType(recorded),
        special_tokens=frozenset(map(str, header.get("special_tokens", SPECIAL_TOKENS))),
        # A file of a text that is not a chat has none.
        roles=tuple(header.get("roles", ())),
    )
    for site in trace.sites:
        if not trace.inputs[site]:
            raise ValueError(said("{site} has no layers", site=site))
        queries, keys = trace.axis_tokens(site)
        for inputs_of_layer in trace.inputs[site]:
            if inputs_of_layer.shape[1:] != (len(queries), len(keys)):
                raise ValueError(said("{site} does not fit the tokens", site=site))
    lengths = {"num_source": len(trace.source_tokens), "num_target": len(trace.target_tokens)}
    for edit in edits:
        # An edit may name a row of the decoder after the last; everything else that it names must exist.
        reached = {**lengths, "num_target": max(lengths["num_target"], edit.first_row + 1)}
        check_edit(edit, *trace.shapes[edit.site], **reached)
    for inputs_of_layer in (each for layers in inputs.values() for each in layers):
        # Masks, sinks and biases that do not fit show in the first row already.
        inputs_of_layer.weights(rows=slice(0, 1))
    return trace


def _read_edit(values: Mapping[str, Any]) -> HeadEdit:
    kinds: dict[str, type[HeadEdit]] = {kind.__name__: kind for kind in (SwitchOff, MakeUniform, PointAt)}
    edit = kinds[values["kind"]](**{name: value for name, value in values.items() if name != "kind"})
    numbers = {name: value for name, value in asdict(edit).items() if name != "site" and value is not None}
    if not all(type(value) is int for value in numbers.values()):
        raise ValueError(said("an edit's numbers must be whole: {numbers}", numbers=numbers))
    return edit


def _read_source(arrays: Mapping[str, Array], header: Mapping[str, Any]) -> Source:
    # A file written before traces had a source does not name its kind.
    kind = SOURCES[header.get("source", "picture" if "picture" in header else "text")]
    tokens, ids = (tuple(header[name]) for name in ("source_tokens", "source_ids"))
    if not kind.has_words:  # Older files have the sign of a word's beginning before patches and frames.
        tokens = tuple(token.removeprefix(WORD_BEGIN) for token in tokens)
    return kind(text=str(header["text"]), tokens=tokens, ids=ids, **kind.read_parts(header, partial(_tensor, arrays)))


def _tensor(arrays: Mapping[str, Array], name: str, kind: str = "f") -> Tensor:
    """An array of the file, whose numbers are floats ("f"), true or false ("b"), bytes ("u") or whole ("i")."""
    array = arrays[name]
    if array.dtype.kind != kind:
        raise ValueError(said("{name} holds numbers of the type {kind}", name=name, kind=str(array.dtype)))
    return torch.from_numpy(array)


def _read_score(arrays: Mapping[str, Array], path: str, values: Mapping[str, Any], query: Tensor) -> ScoreFunction:
    names = ("score_vector", "score_matrix")
    tensors = {name: _tensor(arrays, f"{path}/{name}") for name in names if f"{path}/{name}" in arrays}
    heads, _, d_k = query.shape
    return read_score_function(values.get("score", DOT_PRODUCT.name), tensors, heads, d_k)


def _read_inputs(
    arrays: Mapping[str, Array], site: str, layer: int, values: Mapping[str, Any], edits: list[HeadEdit]
) -> AttentionInputs | WeightsOnly:
    path = f"{site}/{layer}"

    def optional(part: str, kind: str = "f") -> Tensor | None:
        return _tensor(arrays, f"{path}/{part}", kind) if f"{path}/{part}" in arrays else None

    def number(name: str) -> int | None:
        value = values.get(name)
        return None if value is None else checked.count(value, name)

    held = optional("held")
    if held is None:
        query, key, value = (_tensor(arrays, f"{path}/{part}") for part in ("query", "key", "value"))
        if key.size(1) != value.size(1):
            raise ValueError(said("keys and values of {path} differ in number", path=path))
    num_queries, num_keys = (query.size(1), key.size(1)) if held is None else held.shape[1:]
    mask = AttentionMask(
        num_queries=num_queries,
        num_keys=num_keys,
        key_padding=optional("key_padding", "b"),
        causal=bool(values["causal"]),
        first_query=number("first_query") or 0,
        window=number("window"),
        chunk=number("chunk"),
        explicit=optional("explicit", "b"),
    )
    if held is not None:
        return WeightsOnly(held=held, mask=mask, why=str(values["why"]))
    table = optional("distance_bias")
    return AttentionInputs(
        query=query,
        key=key,
        value=value,
        mask=mask,
        scale=float(values["scale"]),
        score=_read_score(arrays, path, values, query),
        bias=optional("bias") if table is None else DistanceBias(table, num_queries),
        softcap=None if values.get("softcap") is None else float(values["softcap"]),
        sinks=optional("sinks"),
        edits=tuple(edit for edit in edits if (edit.site, edit.layer) == (site, layer)),
    )
