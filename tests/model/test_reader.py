"""What a translator is asked on the way in: a device, a language, a text no longer than it reads, a row that it has."""

import pytest
import torch

from model import Translator
from model.errors import DeviceError, TokenError, memory_short
from model.reader import choose_device, choose_dtype, multiplies_bfloat16

CPU, CUDA = torch.device("cpu"), torch.device("cuda")


def test_a_device_is_taken_where_it_exists(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    assert choose_device() == CUDA
    for name in ("cpu", "cuda", "cuda:0", "cuda:1"):
        assert choose_device(name) == torch.device(name)
    with pytest.raises(DeviceError, match="but 2 CUDA devices are present"):
        choose_device("cuda:2")
    with pytest.raises(DeviceError, match="'cpu:1' is not supported; use cpu"):
        choose_device("cpu:1")
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    with pytest.raises(DeviceError, match="'cuda' was requested, but 0 CUDA devices"):
        choose_device("cuda")


def test_bfloat16_is_for_devices_that_multiply_it(monkeypatch: pytest.MonkeyPatch) -> None:
    assert [choose_dtype(name, CUDA) for name in ("float32", "bfloat16")] == [torch.float32, torch.bfloat16]
    assert choose_dtype("float32", CPU) == torch.float32
    with pytest.raises(DeviceError, match="bfloat16 is a setting for CUDA"):
        choose_dtype("bfloat16", CPU)
    for on_gpu, on_cpu in ((True, False), (False, True)):
        monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda including_emulation, is_so=on_gpu: is_so)
        monkeypatch.setattr(torch.cpu, "get_capabilities", lambda is_so=on_cpu: {"avx2": True, "avx512_bf16": is_so})
        assert (multiplies_bfloat16(CUDA), multiplies_bfloat16(CPU)) == (on_gpu, on_cpu)


def test_memory_that_is_missing_is_told_from_any_other_error() -> None:
    class OutOfMemoryError(RuntimeError): ...

    for error in (MemoryError(), OutOfMemoryError(), RuntimeError("DefaultCPUAllocator: can't allocate")):
        assert "not enough memory" in str(memory_short(error))
    assert memory_short(RuntimeError("another")) is None


def test_a_translation_of_a_single_token_is_traced_and_one_of_too_many_refused(translator: Translator) -> None:
    for ids in ([0], [translator.config.vocab_size - 1], [5] * 114):
        assert [step.token_id for step in translator.trace_tokens("Tom.", ids).steps] == ids
    for ids, message in (([], "got 0"), ([5] * 115, "1 to 114 tokens"), ([-1], "got -1"), ([370], "0 to 369, got 370")):
        with pytest.raises(TokenError, match=message):
            translator.trace_tokens("Tom.", ids)
