"""Every file of a model's folder is opened by `folder_files.open_file`, or by name while that holds it open."""

import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import torch
from transformers import ViTImageProcessorPil

from model import Translator
from model.adapters import inspect_folder
from model.analysis.atlas.file import load_atlas, save_atlas
from model.analysis.atlas.measure import build_atlas
from model.analysis.corpus import CorpusSentence
from model.checkpoint import save_checkpoint, write_manifest
from model.folder_files import open_file
from model.marian.files import languages
from model.opening import open_reader
from model.training.film import load_film
from model.training_record import read_card, read_log, read_metrics, read_training
from tests.model.adapters.zoo import save_model, tiny
from tests.model.marian.marian_folders import write_marian
from tests.viz.pages.experiments.through_training.invented import saved

pytestmark = [
    pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="asks Linux which files are open"),
    pytest.mark.filterwarnings("ignore:Recommended. pip install sacremoses"),
]


class Watch:
    """What was opened below a folder: by our function, and by its name while our function held it or did not."""

    def __init__(self) -> None:
        self.folder: Path | None = None
        self.ours: set[str] = set()
        self.held: set[str] = set()
        self.others: set[str] = set()

    def __call__(self, event: str, args: tuple[object, ...]) -> None:
        if self.folder is None or event != "open" or not isinstance(args[0], str | bytes | os.PathLike):
            return
        path = Path(os.fsdecode(args[0]))
        frame = sys._getframe(1)
        while frame is not None:
            if frame.f_code is open_file.__code__:
                # The folder itself is opened first, and its file by its name below it.
                self.ours |= {path.name} if not path.is_absolute() else set()
                return
            frame = frame.f_back  # type: ignore[assignment]
        if path.is_relative_to(self.folder):
            (self.held if path in open_now() else self.others).add(path.name)


def open_now() -> set[Path]:
    """The files that this process has open."""
    return {Path(os.path.realpath(f"/proc/self/fd/{number}")) for number in os.listdir("/proc/self/fd")}


WATCH = Watch()


@pytest.fixture(scope="session", autouse=True)
def hook() -> None:
    # An audit hook stays until the process ends.
    sys.addaudithook(WATCH)


@contextmanager
def watched(folder: Path) -> Iterator[Watch]:
    WATCH.__init__()  # type: ignore[misc]
    WATCH.folder = folder.resolve()
    try:
        yield WATCH
    finally:
        WATCH.folder = None


def test_the_watch_sees_a_file_that_is_opened_another_way(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("{}", encoding="utf-8")
    with watched(tmp_path) as seen:
        (tmp_path / "a.json").read_text(encoding="utf-8")
    assert seen.others == {"a.json"}
    with watched(tmp_path) as seen, open_file(tmp_path, "a.json", 2):
        (tmp_path / "a.json").read_text(encoding="utf-8")
    assert (seen.ours, seen.held, seen.others) == ({"a.json"}, {"a.json"}, set())


def test_every_file_of_a_checkpoint_is_opened_by_our_function(translator: Translator, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    save_checkpoint(folder, translator.model, translator.tokenizer, card="A card.")
    (folder / "training.json").write_text('{"data": [], "settings": {}, "dev_limit": 1}', encoding="utf-8")
    (folder / "training_log.jsonl").write_text('{"step": 1, "loss": 2.0}\n', encoding="utf-8")
    (folder / "metrics.json").write_text('{"entries": []}', encoding="utf-8")
    saved(folder / "film.npz")
    save_atlas(build_atlas(translator, [CorpusSentence("The dog was tired.")]), folder / "atlas.npz")
    write_manifest(folder)
    names = {path.name for path in folder.iterdir()}
    with watched(folder) as seen:
        open_reader(folder)
        for read in (read_card, read_log, read_metrics, read_training):
            assert read(folder) is not None
        load_film(folder / "film.npz")
        load_atlas(folder / "atlas.npz")
        inspect_folder.folder_with_model(str(folder))
        inspect_folder.kind_in(folder)
    assert (seen.ours, seen.held, seen.others) == (names, set(), set())


@pytest.mark.parametrize("model_type", ["bert", "gpt2", "bart", "vit"])
def test_every_file_of_a_library_model_is_opened_by_our_function(
    folder: Callable[[str], Path], tmp_path: Path, model_type: str
) -> None:
    copy = tmp_path / model_type
    if model_type == "vit":
        tiny("vit").save_pretrained(copy)
        ViTImageProcessorPil(size={"height": 24, "width": 24}).save_pretrained(copy)
    else:
        shutil.copytree(folder(model_type), copy)
    if model_type == "gpt2":
        in_parts(copy)
    with watched(copy) as seen:
        open_reader(copy)
        inspect_folder.folder_with_model(str(copy))
        inspect_folder.has_chat_template(copy)
    assert seen.others == set()
    # Whatever a library may open by its name is held open meanwhile.
    assert seen.held <= {"model.safetensors.index.json"}
    assert {path.name for path in copy.iterdir()} == seen.ours


def test_every_file_of_a_marian_model_is_opened_by_our_function(tmp_path: Path) -> None:
    folder = tmp_path / "marian"
    write_marian(folder)
    with watched(folder) as seen:
        open_reader(folder)
        languages(folder)
    assert (seen.held, seen.others) == (set(), set())
    assert {"config.json", "source.spm", "target.spm", "vocab.json", "model.safetensors"} <= seen.ours


def test_every_file_of_an_adapter_is_opened_by_our_function(tmp_path: Path) -> None:
    import peft
    from transformers import AutoModelForCausalLM

    base = save_model(tmp_path / "base", "gpt2", "bytes")
    config = peft.LoraConfig(task_type="CAUSAL_LM", r=2, target_modules=["c_attn"], fan_in_fan_out=True)
    adapter = tmp_path / "adapter"
    peft.get_peft_model(AutoModelForCausalLM.from_pretrained(base), config).save_pretrained(str(adapter))
    with watched(tmp_path) as seen:
        open_reader(adapter)
    assert seen.others == set()
    assert {"adapter_config.json", "adapter_model.safetensors", "model.safetensors"} <= seen.ours


def in_parts(folder: Path) -> None:
    """The weights of a folder as two files with their index."""
    from transformers import AutoModelForCausalLM

    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    (folder / "model.safetensors").unlink()
    model.save_pretrained(folder, max_shard_size="50KB")
    assert (folder / "model.safetensors.index.json").exists()
