"""Recording and editing at hook points: nothing mixes, nothing stays behind."""

import threading

import pytest
import torch

from model import Translator
from model.nn.hooks import ALWAYS_RECORDED, EXTRAS, NEVER_RECORDED, listen

HEAD_OUTPUT = "encoder.layers.0.self_attention.hook_head_output"


def encode(translator: Translator, ids: list[int]) -> torch.Tensor:
    with torch.no_grad():
        return translator.model.encode(torch.tensor([ids]))


def test_hook_names_are_module_paths_and_every_documented_hook_exists(translator: Translator) -> None:
    names = translator.model.hook_names
    assert "decoder.layers.1.cross_attention.hook_query" in names
    assert "encoder.embedding.hook_positional" in names
    assert {name.rpartition(".")[2] for name in names} == ALWAYS_RECORDED | EXTRAS | NEVER_RECORDED


def test_a_misspelt_hook_is_an_error_and_not_silence(translator: Translator) -> None:
    with pytest.raises(ValueError, match="hook_qery"), listen(record={"hook_qery"}):
        pass
    with pytest.raises(ValueError, match=r"encoder\.layers\.9"):
        translator.trace("The dog.", edits={"encoder.layers.9.hook_output": lambda x: x})


def test_an_edit_changes_what_follows_and_only_inside_the_block(translator: Translator) -> None:
    plain = encode(translator, [5, 6, 7])
    with listen(edits={HEAD_OUTPUT: torch.zeros_like}):
        silenced = encode(translator, [5, 6, 7])
    assert not torch.allclose(plain, silenced)
    assert torch.equal(plain, encode(translator, [5, 6, 7]))


def test_nothing_is_left_behind_after_an_exception(translator: Translator) -> None:
    def fail(value: torch.Tensor) -> torch.Tensor:
        raise RuntimeError("edit failed")

    plain = encode(translator, [5, 6])
    with pytest.raises(RuntimeError, match="edit failed"), listen(edits={HEAD_OUTPUT: fail}):
        encode(translator, [5, 6])
    assert torch.equal(plain, encode(translator, [5, 6]))


def test_threads_on_one_model_never_see_each_others_run(translator: Translator) -> None:
    meet = threading.Barrier(4, timeout=20)
    results: dict[int, tuple[list[int], torch.Tensor]] = {}

    def viewer(number: int) -> None:
        def edit(value: torch.Tensor) -> torch.Tensor:
            meet.wait()  # all four are inside the same layer of the same model now
            return value * number

        with listen(record={"hook_query", "hook_head_output"}, edits={HEAD_OUTPUT: edit}) as recorded:
            encode(translator, [5 + number] * (number + 2))
        lengths = [value[0].size(2) for name, value in recorded.items() if name.endswith("hook_query")]
        results[number] = lengths, recorded[HEAD_OUTPUT][0]

    threads = [threading.Thread(target=viewer, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for number in range(4):
        lengths, head_output = results[number]
        assert lengths == [number + 2] * 2
        with listen(record={"hook_head_output"}) as alone:
            encode(translator, [5 + number] * (number + 2))
        torch.testing.assert_close(head_output, alone[HEAD_OUTPUT][0] * number)
