"""Models of every kind, made once, and the app that lists them."""

import shutil
from pathlib import Path
from typing import Final

import pytest
from streamlit.testing.v1 import AppTest

from tests.model.adapters import speech_zoo, zoo
from tests.model.adapters.sided_zoo import save_sided
from tests.model.adapters.zoo import save_chat_model
from tests.often import often
from tests.viz.page_run import app_of
from tests.viz.pages.any_model import MODELS
from viz.selection.catalogue import DOWNLOADS_VARIABLE, ROOT_VARIABLE
from viz.selection.selection import Selection


@pytest.fixture(scope="session")
def folders(tmp_path_factory: pytest.TempPathFactory, tiny_checkpoints: Path) -> Path:
    """A folder of checkpoints with ours in it, beside a text model of every kind, two of pictures and two of sound."""
    import transformers

    root = tmp_path_factory.mktemp("any")
    shutil.copytree(tiny_checkpoints / "en-de", root / "en-de")
    for model_type, tokenizer in MODELS.items():
        zoo.save_model(root / model_type, model_type, tokenizer)
    save_chat_model(root / "chat")
    zoo.tiny("vit").save_pretrained(root / "vit")
    transformers.ViTImageProcessorPil(size={"height": 24, "width": 24}).save_pretrained(root / "vit")
    save_sided(root / "clip", "clip")
    speech_zoo.save_whisper(root / "whisper", seconds=5)
    speech_zoo.save_hubert(root / "hubert")
    return root


@pytest.fixture
def any_model(folders: Path, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    """The app with these models in its list."""
    monkeypatch.setenv(ROOT_VARIABLE, str(folders))
    monkeypatch.delenv(DOWNLOADS_VARIABLE, raising=False)
    return app_of()


#: Whose words have rows and columns: our encoder–decoder, one of the library, an encoder, and a decoder alone.
KINDS: Final = {"en-de": "", "bart": "metaspace", "bert": "wordpiece", "gpt2": "metaspace"}


@pytest.fixture(scope="session")
def kinds(tmp_path_factory: pytest.TempPathFactory, tiny_checkpoints: Path) -> Path:
    """A folder of checkpoints with one of each kind, for texts of a few words."""
    root = tmp_path_factory.mktemp("kinds")
    shutil.copytree(tiny_checkpoints / "en-de", root / "en-de")
    for kind, tokenizer in KINDS.items():
        if tokenizer:
            # A random translation ends where its positions do.
            changes = {"max_position_embeddings": 32} if kind == "bart" else {}
            zoo.tiny(kind, changes=changes).save_pretrained(root / kind)
            zoo.save_tokenizer(root / kind, tokenizer)
    return root


@pytest.fixture(params=often(KINDS, ("en-de", "bert", "gpt2")))
def of_each_kind(request: pytest.FixtureRequest, kinds: Path, monkeypatch: pytest.MonkeyPatch) -> Selection:
    """In turn each of them, chosen."""
    monkeypatch.setenv(ROOT_VARIABLE, str(kinds))
    return Selection().changed(checkpoint=request.param)
