"""Public functions that take a path take it as a text, too."""

from collections.abc import Callable
from pathlib import Path

import pytest

from model import Translator
from model.adapters.image_reader import open_picture
from model.analysis.ablations.results import AblationResults, load_results, save_results
from model.analysis.atlas.file import load_atlas
from model.analysis.coreference.case_files import read_pronoun_cases
from model.analysis.corpus import read_text
from model.analysis.metrics.alignment import read_alignments
from model.checkpoint import load_checkpoint, save_checkpoint
from model.errors import HeadlightError
from model.opening import open_reader, open_translator
from model.pairs import read_pairs
from model.reader import choose_device
from model.trace.file import load_trace
from model.training.film import load_film

READS: list[Callable[[str | Path], object]] = [
    open_picture, load_results, load_atlas, read_pronoun_cases, read_text, read_alignments, open_reader,
    open_translator, read_pairs, load_trace, load_film, Translator.load,
]  # fmt: skip


@pytest.mark.parametrize("read", READS, ids=lambda read: read.__name__)
def test_what_is_not_there_is_said_of_a_text_as_of_a_path(tmp_path: Path, read: Callable[[str | Path], object]) -> None:
    said = []
    for path in (tmp_path / "none.txt", f"{tmp_path}/none.txt"):
        with pytest.raises(HeadlightError) as raised:
            read(path)
        said.append(str(raised.value))
    assert said[0] == said[1]


def test_a_file_that_is_no_model_is_not_said_to_be_no_folder(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("x", encoding="utf-8")
    with pytest.raises(HeadlightError, match=r"a\.txt is a file, and not GGUF"):
        open_reader(tmp_path / "a.txt")


def test_what_is_written_by_a_text_is_read_by_it(tmp_path: Path, translator: Translator) -> None:
    folder = f"{tmp_path}/saved"
    save_checkpoint(folder, translator.model, translator.tokenizer, card="Random weights.\n")
    assert load_checkpoint(folder, choose_device("cpu")).digest == open_translator(folder).digest
    assert open_reader(folder, cache=f"{tmp_path}/cache").trace("A dog.").text == "A dog."
    save_results(AblationResults((), {}), f"{tmp_path}/results.json")
    assert load_results(f"{tmp_path}/results.json") == AblationResults((), {})
