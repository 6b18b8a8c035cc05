"""Open models, read with them, draw what they did: each stage prints its name when it has succeeded.

python -m tests.portable.open_trace_draw FOLDER, in which there is a small model of the library, `chat`.
"""

import json
import os
import runpy
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tests.paths import ROOT

TEXT = "The animal didn't cross the street because it was too tired."
SHIPPED = ROOT / "checkpoints" / "en-de"
INDUCTION = ROOT / "checkpoints" / "induction"


def is_without_posix(folder: Path) -> None:
    """The prelude has done its work."""
    import locale
    import multiprocessing

    assert not any(hasattr(os, name) for name in ("sysconf", "fork", "killpg", "O_NOFOLLOW", "O_NONBLOCK"))
    assert os.open not in os.supports_dir_fd
    assert (locale.getpreferredencoding(), sys.stdout.encoding) == ("cp1252", "cp1252")
    assert multiprocessing.get_start_method() == "spawn"


def translator_is_traced(folder: Path) -> None:
    """Our own model: weights that sum to 1, a trace that is written and read again."""
    from model import Translator
    from model.trace.file import load_trace, save_trace

    trace = Translator.load(SHIPPED).trace(TEXT)
    assert "Tier" in trace.translation
    np.testing.assert_allclose(trace.weights("decoder.cross", layer=3).sum(-1), 1, atol=1e-5)
    save_trace(trace, folder / "trace.npz")
    assert load_trace(folder / "trace.npz").target_tokens == trace.target_tokens


def decoder_is_traced(folder: Path) -> None:
    """The decoder that ships."""
    from model.opening import open_reader

    assert open_reader(INDUCTION).trace(TEXT).weights("decoder.self", layer=1).shape[0] > 1


def library_model_is_traced(folder: Path) -> None:
    """Its tokenizer is tried in a process of its own."""
    from model.opening import open_reader

    trace = open_reader(folder / "chat").trace(TEXT)
    np.testing.assert_allclose(trace.weights("decoder.self", layer=1).sum(-1), 1, atol=1e-5)


def chat_is_rendered_and_a_greedy_template_is_not(folder: Path) -> None:
    """A template that takes too much is ended although the system sets no limits."""
    from model.adapters import chat_template
    from model.adapters.chat_template import Message
    from model.errors import InputTextError
    from model.opening import as_chat, open_reader

    assert "user" in as_chat(open_reader(folder / "chat")).trace("Tom told me.").roles
    chat_template.SECONDS = 1  # type: ignore[misc]
    greedy = "{% for a in range(99999) %}" * 3 + "{% endfor %}" * 3
    with pytest.raises(InputTextError, match="takes more than 1 seconds"):
        chat_template.rendered(greedy, (Message("user", "Hello."),), {})


def atlas_is_measured_and_kept(folder: Path) -> None:
    """It is read from the cache the second time."""
    from model.analysis.atlas.file import cached_atlas
    from model.analysis.corpus import CorpusSentence
    from model.opening import open_reader

    reader, sentences = open_reader(INDUCTION), [CorpusSentence(TEXT), CorpusSentence("Tom sagte mir, daß er es weiß.")]
    made = cached_atlas(reader, sentences, folder / "atlases")
    done: list[int] = []
    again = cached_atlas(reader, sentences, folder / "atlases", progress=done.append)
    assert (again.texts, done) == (made.texts, [])


def first_page_is_drawn(folder: Path) -> None:
    """As a browser would get it."""
    from tests.viz.page_run import app_of, opened

    app = opened(app_of())
    assert app.title[0].value == "Attention"


def training_goes_on_where_it_ended(folder: Path) -> None:
    """Its state is replaced while what was read of it is in use."""
    from model.__main__ import main

    shape = (
        "--vocab-size 370 --d-model 16 --num-layers 1 --num-heads 2 --d-ff 16 --save-every 1 --decay paper --device cpu"
    )
    places = ["--data", str(folder / "pairs.tsv"), "--run", str(folder / "run"), "--out", str(folder / "out")]
    for steps in ("2", "4"):
        assert main(["train", *places, *shape.split(" "), "--steps", steps]) == 0


def command_line_prints_what_cp1252_lacks(folder: Path) -> None:
    """As `python -m model` does, into a pipe."""
    (folder / "text.tsv").write_text("Zażółć 猫.\tDie Katze.\n", encoding="utf-8")
    evaluate = ["evaluate", "--data", str(folder / "text.tsv"), "--show"]
    for arguments in (["translate", TEXT], ["trace", TEXT, "--out", str(folder / "weights.npz")], evaluate):
        sys.argv[:] = ["model", *arguments]
        with pytest.raises(SystemExit) as end:
            runpy.run_module("model", run_name="__main__")
        assert not end.value.code, arguments


STAGES: tuple[Callable[[Path], None], ...] = (
    is_without_posix,
    translator_is_traced,
    decoder_is_traced,
    library_model_is_traced,
    chat_is_rendered_and_a_greedy_template_is_not,
    atlas_is_measured_and_kept,
    first_page_is_drawn,
    training_goes_on_where_it_ended,
    command_line_prints_what_cp1252_lacks,
)

if __name__ == "__main__":
    for stage in STAGES:
        stage(Path(sys.argv[1]))
        print(json.dumps({"done": stage.__name__}), flush=True)
