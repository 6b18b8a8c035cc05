"""A MarianMT (OPUS-MT) folder read by the adapters: tokens, languages, texts, and scores of its heads."""

from pathlib import Path

import numpy as np
import pytest
import torch

from model.adapters.open_folder import open_folder
from model.adapters.text_writer import TextWriter
from model.analysis.atlas.measure import build_atlas
from model.analysis.coreference.case_files import PronounCases, curated_cases
from model.analysis.coreference.measure import measure_coreference
from model.analysis.coreference.pronoun_choice import pronoun_choice
from model.analysis.corpus import CorpusSentence
from model.analysis.metrics.alignment import AlignedPair
from model.errors import InputTextError
from model.opening import open_translator
from model.sequence_translator import SequenceTranslator
from tests.model.marian.marian_folders import TEXTS, write_marian

pytestmark = pytest.mark.filterwarnings("ignore:Recommended. pip install sacremoses")
TARGET = "Das Tier war zu müde."


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> tuple[TextWriter, SequenceTranslator]:
    """The same folder through the adapters, and as a model of our own."""
    folder = tmp_path_factory.mktemp("marian") / "opus-mt-en-de"
    write_marian(folder)
    opened = open_folder(Path(folder), device="cpu")
    assert isinstance(opened, TextWriter)
    return opened, open_translator(folder, "cpu")


@pytest.mark.parametrize("text", [*TEXTS, ">>deu<< The  dog 中", "  two   spaces ", "Tom 😀 עברית"])
@pytest.mark.parametrize("writes", ["", "nld"])
def test_tokens_and_their_characters_are_those_of_our_own_tokenizer(
    both: tuple[TextWriter, SequenceTranslator], text: str, writes: str
) -> None:
    theirs, ours = (reader.speaking(writes=writes) for reader in both)
    assert list(theirs.source_ids(text)) == list(ours.source_ids(text))
    assert theirs.source_offsets(text) == [*(ours.source_offsets(text) or ()), (0, 0)]
    assert (theirs.languages, theirs.offered.writes) == (("en", "nl" if writes else "de"), ("deu", "nld"))


def test_characters_of_a_translation_are_known_and_an_unknown_language_is_refused(
    both: tuple[TextWriter, SequenceTranslator],
) -> None:
    reader, _ = both
    tokens, offsets = reader.pieces.tokens(reader.target_ids(TARGET)), reader.target_offsets(TARGET)
    assert offsets is not None
    assert all(
        token.strip("▁") in (TARGET[slice(*span)], "", "</s>") for token, span in zip(tokens, offsets, strict=True)
    )
    with pytest.raises(InputTextError, match=r"does not know the language 'xyz'. Choose one of its 2: deu, nld\."):
        reader.translate(">>xyz<< The dog.")


@pytest.mark.parametrize("text", TEXTS)
def test_nothing_that_may_not_be_written_is_written(both: tuple[TextWriter, SequenceTranslator], text: str) -> None:
    reader, ours = both
    padding = reader.vocab_size - 1
    session, given = reader.decode(text), torch.tensor([reader.source_ids(text)])
    session.run()
    expected = reader.model.generate(given, max_new_tokens=session.max_steps, max_length=None)[0]  # type: ignore[operator]
    assert list(session.target_ids) == expected.tolist()
    drawn = [reader.sample(text, n=8, seed=2), ours.sample(text, n=8, seed=2)]
    assert not any(padding in one.token_ids for one in drawn[0])
    tree = reader.beam_tree(text, 4)
    assert padding not in {node.token_id for node in tree.nodes[1:]}
    # Also where a translation is read along, and where a choice is asked for.
    forced, own = reader.trace(text, TARGET), ours.trace(text, TARGET)
    assert [step.log_prob for step in forced.steps] == pytest.approx([step.log_prob for step in own.steps], abs=1e-4)
    place = reader.place(text)
    torch.testing.assert_close(reader.place_logits(place), ours.place_logits(ours.place(text)), atol=1e-4, rtol=0)


def test_scores_of_heads_are_those_of_our_own_model(both: tuple[TextWriter, SequenceTranslator]) -> None:
    cases = curated_cases()
    some = PronounCases(cases.cases[:6])
    theirs, ours = (measure_coreference(reader, some) for reader in both)
    assert theirs.unscored == ours.unscored
    for site, found in ours.sites.items():
        assert theirs.sites[site].accuracy.value == pytest.approx(found.accuracy.value, nan_ok=True)
    assert theirs.contrast is not None
    assert ours.contrast is not None
    torch.testing.assert_close(theirs.contrast.margins, ours.contrast.margins, atol=1e-3, rtol=1e-3)


def test_what_could_stand_for_a_pronoun_is_as_probable_as_in_our_own_model(
    both: tuple[TextWriter, SequenceTranslator],
) -> None:
    case = curated_cases().cases[0]
    german = "Das Tier überquerte die Straße nicht, weil es zu müde war."
    found, expected = (
        pronoun_choice(reader, reader.trace_tokens(case.sentence, reader.target_ids(german)), case).probabilities
        for reader in both
    )
    assert list(found) == ["er", "ihn", "sie", "es"]
    assert dict(found) == pytest.approx(dict(expected), rel=1e-3)


def test_masks_of_a_batch_are_those_of_our_own_model(both: tuple[TextWriter, SequenceTranslator]) -> None:
    found, expected = (vars(reader.masks(TEXTS)) for reader in both)
    assert found["source_tokens"] == expected["source_tokens"]
    assert found["target_tokens"] == expected["target_tokens"]
    for name in found.keys() - {"source_tokens", "target_tokens"}:
        assert np.array_equal(found[name], expected[name]), name
    with pytest.raises(InputTextError, match="Sentence 2"):
        both[0].masks([TEXTS[0], " "])


def test_links_made_by_hand_are_held_against_any_cross_attention(both: tuple[TextWriter, SequenceTranslator]) -> None:
    pair = AlignedPair(("A", "man", "walks."), ("Ein", "Mann", "geht."), frozenset(((0, 0), (1, 1), (2, 2))))
    theirs, ours = (build_atlas(reader, [CorpusSentence(TEXTS[1], TARGET)], [pair]) for reader in both)
    names = [name for name in ours.metrics if "aer" in name]
    assert len(names) == 4
    for name in names:
        torch.testing.assert_close(torch.tensor(theirs.metrics[name]), torch.tensor(ours.metrics[name]), equal_nan=True)
