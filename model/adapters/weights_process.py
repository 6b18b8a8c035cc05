"""The program that `other_weights` runs under limits: torch's own reader of plain tensors, or transformers' of GGUF."""

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from model.adapters.config_limits import check_values
from model.adapters.gguf_header import check_header, read_header
from model.adapters.limited_process import serve

#: Times as many numbers as there are that a model may have: its head may be its embedding.
MOST_MISSING: Final = 3


def convert_gguf(target: Path, files: list[Path]) -> str:
    """Write a file as a folder of transformers; what is wrong with it, as a part of a sentence, or ""."""
    (file,) = files
    header = read_header(file)
    check_header(header)
    import torch
    import transformers

    from model.adapters import library
    from model.adapters.model_class import class_of
    from model.adapters.probe import Probe
    from model.adapters.whole import Stored, find_whole, wrong_with_unread

    # Beside the target, where what a killed process leaves is found.
    with TemporaryDirectory(dir=target.parent) as alone:
        # So that the library reads nothing that lies beside it.
        (Path(alone) / file.name).symlink_to(file)
        options: dict[str, Any] = {"gguf_file": file.name, "local_files_only": True, "trust_remote_code": False}
        config = transformers.AutoConfig.from_pretrained(alone, **options)
        check_values(config.to_dict(), has_table=False)
        made = class_of(config)
        asked, _, _ = library.count_numbers(made, config)
        if asked > MOST_MISSING * header.numbers:
            return f"its settings ask for {asked:,} numbers, and its tensors hold {header.numbers:,}"
        options = {"gguf_file": file.name, "config": config, "dtype": torch.float32}
        model, loading = library.load_reporting(made.made, Path(alone), options)
        tokenizer = transformers.AutoTokenizer.from_pretrained(alone, gguf_file=file.name, local_files_only=True)
    whole, wrong = find_whole(model, loading, Stored())
    if wrong := wrong or left_of_gguf(model, file) or wrong_with_unread(model, whole, Probe.of_text(model)):
        return f"its weights do not fit its settings: {wrong}"
    # The library read plain numbers, but marks the model as quantized, which it then does not save.
    model.hf_quantizer, model.is_quantized = None, False
    del model.config.quantization_config
    model.save_pretrained(target)
    tokenizer.save_pretrained(target)
    return ""


def left_of_gguf(model: Any, file: Path) -> str:
    """Which tensor of a file the library left out without a word, as a part of a sentence; "" if none."""
    from gguf import GGUFReader
    from transformers.modeling_gguf_pytorch_utils import TENSOR_PROCESSORS, TensorProcessor, get_gguf_hf_weights_map

    reader = GGUFReader(file)
    stored = {weight.data_ptr(): weight.numel() for weight in model.state_dict().values()}
    if sum(int(tensor.n_elements) for tensor in reader.tensors) <= sum(stored.values()):
        return ""
    # Factors of 1 for rotary frequencies change nothing; the library reads none.
    tensors = {each.name for each in reader.tensors if len(each.shape) > 1 or not (each.data == 1).all()}
    architecture = reader.fields["general.architecture"].contents()
    made: Any = TENSOR_PROCESSORS.get(architecture, TensorProcessor)
    known = get_gguf_hf_weights_map(model, made(config=model.config.to_dict()))
    left = sorted(tensors - known.keys())
    return f"they contain {left[0][:80]}, which transformers does not use" if left else ""


def convert(target: Path, files: list[Path]) -> str:
    """Write each file as safetensors; what is wrong with one, as a part of a sentence, or ""."""
    import torch
    from safetensors.torch import save_file

    weight_map: dict[str, str] = {}
    for number, file in enumerate(files):
        state = torch.load(file, map_location="cpu", weights_only=True, mmap=False)
        if not isinstance(state, dict) or not all(isinstance(name, str) for name in state):
            return "it holds no table of names and tensors"
        others = [name for name, value in state.items() if type(value) not in (torch.Tensor, torch.nn.Parameter)]
        if others or any(value.layout != torch.strided or value.is_quantized for value in state.values()):
            return f"{[*others, 'one'][0][:80]} is no plain tensor"
        name = "model.safetensors" if len(files) == 1 else f"model-{number}.safetensors"
        # Tied weights share their memory, which safetensors does not write.
        save_file({key: value.detach().clone().contiguous() for key, value in state.items()}, target / name)
        weight_map |= dict.fromkeys(state, name)
    if len(files) > 1:
        (target / "model.safetensors.index.json").write_text(
            json.dumps({"metadata": {}, "weight_map": weight_map}), encoding="utf-8"
        )
    return ""


def answer_to(kind: str, target: str, *files: str) -> dict[str, str]:
    """What is wrong with the files, "pickled" or "gguf"."""
    return {"wrong": (convert if kind == "pickled" else convert_gguf)(Path(target), [Path(file) for file in files])}


if __name__ == "__main__":
    serve(answer_to)
