"""Greedy and beam search, and the step-by-step session, agree with each other and with one teacher-forced pass."""

import copy

import pytest
import torch

import model.decoding.session
from model import Transformer, Translator
from model.decoding import search as searching
from model.decoding.beam import Hypothesis
from model.decoding.search import beam_search, greedy_search
from model.nn.masks import key_padding, pad
from tests.conftest import SENTENCES


def uncached_greedy(translator: Translator, text: str) -> list[int]:
    """The definition: read the whole prefix anew for every token."""
    source = torch.tensor([translator.source_ids(text)])
    prefix: list[int] = []
    while len(prefix) < source.size(1) - 1 + searching.EXTRA_LENGTH:
        with torch.no_grad():
            logits = translator.model(source, torch.tensor([[translator.config.bos_id, *prefix]]))
        token_id = int(logits[0, -1].argmax())
        if token_id == translator.config.eos_id:
            break
        prefix.append(token_id)
    return prefix


@pytest.fixture
def short_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """For comparisons that read every prefix anew: what they show does not need fifty tokens more than the source."""
    for module in (searching, model.decoding.session):
        monkeypatch.setattr(module, "EXTRA_LENGTH", 8)


def with_end(translator: Translator, likelier: float) -> Transformer:
    """The tiny model with so much added to the logit of </s>."""
    model = copy.deepcopy(translator.model)
    bias = torch.zeros(translator.config.vocab_size)
    bias[translator.config.eos_id] = likelier
    model.projection.bias = torch.nn.Parameter(bias)
    return model


@pytest.fixture(scope="module")
def ending(translator: Translator) -> Transformer:
    """The tiny model with </s> made likelier, so that some translations end early and others at their limit."""
    return with_end(translator, 0.5)


@pytest.fixture(scope="module")
def sources(translator: Translator) -> list[list[int]]:
    """Eight sentences of 7 to 49 tokens, a short one after each long one."""
    return [translator.source_ids(part) for text in SENTENCES[:4] for part in (text, text[: len(text) // 4])]


def padded(sources: list[list[int]], translator: Translator) -> tuple[torch.Tensor, torch.Tensor]:
    batch = pad(sources, translator.config.pad_id)
    return batch, key_padding(batch, translator.config.pad_id)


def reference_beam(
    model: Transformer, source: list[int], beam: int, alpha: float = 0.6
) -> list[tuple[list[int], float]]:
    """Beam search by its definition: every prefix read anew for every token, every continuation sorted."""
    bos_id, eos_id = model.config.bos_id, model.config.eos_id
    limit = len(source) - 1 + searching.EXTRA_LENGTH
    living: list[tuple[list[int], float]] = [([], 0.0)]
    finished: list[tuple[list[int], float]] = []

    def penalty(length: int) -> float:
        return ((5 + length) / 6) ** alpha

    def score(hypothesis: tuple[list[int], float]) -> float:
        return hypothesis[1] / penalty(len(hypothesis[0]) + 1)

    for length in range(1, limit + 1):
        with torch.no_grad():
            prefixes = torch.tensor([[bos_id, *prefix] for prefix, _ in living])
            rows = model(torch.tensor([source] * len(living)), prefixes)[:, -1].log_softmax(-1).tolist()
        continued = sorted(
            (
                (total + log_prob, prefix, token_id)
                for (prefix, total), row in zip(living, rows, strict=True)
                for token_id, log_prob in enumerate(row)
            ),
            reverse=True,
        )
        finished += [(prefix, total) for total, prefix, token_id in continued[:beam] if token_id == eos_id]
        finished = sorted(finished, key=score, reverse=True)[:beam]
        going = [one for one in continued if one[2] != eos_id][:beam]
        living = [([*prefix, token_id], total) for total, prefix, token_id in going]
        if length == limit:
            finished += living
        elif len(finished) == beam and score(finished[-1]) >= living[0][1] / penalty(limit + 1):
            break
    return sorted(finished, key=score, reverse=True)[:beam]


def assert_same(ours: list[Hypothesis], theirs: list[tuple[list[int], float]]) -> None:
    assert [one.token_ids for one in ours] == [token_ids for token_ids, _ in theirs]
    assert [one.log_prob for one in ours] == pytest.approx([log_prob for _, log_prob in theirs], abs=1e-4)


def test_a_batch_decodes_each_sentence_as_if_alone(translator: Translator) -> None:
    sources = [translator.source_ids(text) for text in [*SENTENCES[:4], "Hi."]]
    batch = pad(sources, translator.config.pad_id)
    together = greedy_search(translator.model, batch, key_padding(batch, translator.config.pad_id))
    for source, output in zip(sources, together, strict=True):
        assert output == greedy_search(translator.model, torch.tensor([source]), None)[0]


@pytest.mark.parametrize("text", SENTENCES[:2])
def test_beam_one_is_greedy(translator: Translator, short_limit: None, text: str) -> None:
    greedy = uncached_greedy(translator, text)
    assert translator.translate(text, beam=1) == translator.tokenizer.decode(greedy)
    source = torch.tensor([translator.source_ids(text)])
    assert beam_search(translator.model, source, None, beam=1)[0][0].token_ids == greedy


@pytest.mark.parametrize("beam", [1, 3])
def test_beam_search_of_a_ragged_batch_is_what_its_definition_gives_for_each_sentence(
    translator: Translator, ending: Transformer, sources: list[list[int]], short_limit: None, beam: int
) -> None:
    together = beam_search(ending, *padded(sources, translator), beam=beam)
    assert beam == 1 or len({len(hypotheses[0].token_ids) for hypotheses in together}) > 4
    for source, hypotheses in zip(sources, together, strict=True):
        assert len(hypotheses) == beam
        assert_same(hypotheses, reference_beam(ending, source, beam))


def test_each_sentence_of_a_batch_keeps_its_own_length_limit(translator: Translator, sources: list[list[int]]) -> None:
    # Never </s>, so that nothing but the limit ends a translation.
    endless = with_end(translator, -100.0)
    together = beam_search(endless, *padded(sources, translator), beam=2)
    for source, hypotheses in zip(sources, together, strict=True):
        assert [len(one.token_ids) for one in hypotheses] == [len(source) - 1 + 50] * 2
    greedily = greedy_search(endless, *padded(sources, translator))
    assert [len(written) for written in greedily] == [len(source) - 1 + 50 for source in sources]
