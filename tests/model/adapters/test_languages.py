"""Translators of many languages read and write those that are chosen, as the library does."""

from typing import Any

import pytest
import torch
import transformers

from model import open_reader
from model.adapters.text_writer import TextWriter
from model.errors import InputTextError
from model.languages import html_language
from model.opening import as_writer
from tests.conftest import SENTENCES
from tests.model.adapters import many_languages

TEXT = SENTENCES[0]
#: Kind of tokenizer → what is read and written in these tests.
CHOSEN = {
    "nllb": ("fra_Latn", "zho_Hans"),
    "mbart": ("fr_XX", "de_DE"),
    "mbart50": ("fr_XX", "zh_CN"),
    "m2m_100": ("fr", "zh"),
}


@pytest.fixture(scope="module", params=CHOSEN)
def translator(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, TextWriter, Any]:
    """The kind, the model that was opened, and the library's tokenizer of its folder."""
    kind = request.param
    folder = tmp_path_factory.mktemp(kind) / "model"
    many_languages.save(folder, kind)
    opened = as_writer(open_reader(folder, "cpu"))
    assert isinstance(opened, TextWriter)
    return kind, opened, transformers.AutoTokenizer.from_pretrained(str(folder))


def test_the_chosen_languages_are_read_and_written(translator: tuple[str, TextWriter, Any]) -> None:
    kind, opened, tokenizer = translator
    reads, writes = CHOSEN[kind]
    chosen = opened.speaking(reads, writes)
    assert chosen.languages == (html_language(reads), html_language(writes))
    tokenizer.src_lang = reads
    given = tokenizer(TEXT, return_tensors="pt")
    language = tokenizer.get_lang_id(writes) if kind == "m2m_100" else tokenizer.convert_tokens_to_ids(writes)
    begin = {"decoder_start_token_id" if kind == "mbart" else "forced_bos_token_id": language}
    with torch.inference_mode():
        model: Any = chosen.model
        expected = model.generate(**given, **begin, max_new_tokens=12, do_sample=False, num_beams=1)[0].tolist()
    session = chosen.decode(TEXT)
    while len(session.target_ids) < len(expected):
        session.step()
    trace = session.trace()
    assert list(trace.source_ids) == given.input_ids[0].tolist()
    assert [*trace.target_ids, session.target_ids[-1]] == expected
    assert language in expected[:2]
    place = chosen.place(TEXT)
    assert place.target[-1] == language
    assert chosen.place_logits(place).argmax().item() == expected[len(place.target)]


def test_every_choice_has_traces_of_its_own(translator: tuple[str, TextWriter, Any]) -> None:
    kind, opened, _ = translator
    reads, writes = CHOSEN[kind]
    assert len({opened.key, opened.speaking(reads).key, opened.speaking(reads, writes).key}) == 3
    assert opened.speaking(reads).source(TEXT).ids != opened.source(TEXT).ids
    # What the folder was trained for is written until somebody chooses; else German, or English.
    written = {"nllb": "deu_Latn", "mbart": "ro_RO", "mbart50": "de_DE", "m2m_100": "de"}[kind]
    assert opened.pieces.spoken[1] == written
    # Whoever else holds the model reads as before.
    assert opened.pieces.spoken == opened.offered.chosen


def test_an_unknown_language_is_one_sentence(translator: tuple[str, TextWriter, Any]) -> None:
    _, opened, _ = translator
    with pytest.raises(InputTextError, match=r"does not know the language 'tlh'. Choose one of its [\d]+: \w+"):
        opened.speaking("", "tlh")
