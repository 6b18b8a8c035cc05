"""The head that looks most from a pronoun at what it stands for, against every weight of every attention."""

import pytest

from model import Translator
from model.analysis.coreference.pronoun_rows import pronoun_link, written_step
from model.trace.trace import Trace
from model.words import Span, pieces_of_spans

TEXT = "The animal didn't cross the street because it was too tired."


def span(phrase: str) -> Span:
    begin = TEXT.index(f" {phrase} ") + 1
    return begin, begin + len(phrase)


PRONOUN, ANIMAL, STREET = map(span, ("it", "animal", "street"))


@pytest.fixture(scope="module")
def trace(translator: Translator) -> Trace:
    return translator.trace(TEXT)


def every_weight(translator: Translator, trace: Trace, candidates: list[Span]) -> list[tuple[float, str, int, int]]:
    """Of every head of the encoder, to every candidate, one by one."""
    pronoun, *others = pieces_of_spans(translator.tokenizer.offsets(TEXT), [PRONOUN, *candidates])
    found = []
    for layer in range(trace.layers_of("encoder.self")):
        for head, matrix in enumerate(trace.weights("encoder.self", layer).tolist()):
            for name, keys in zip(candidates, others, strict=True):
                weight = sum(matrix[row][key] for row in pronoun for key in keys) / len(pronoun)
                found.append((weight, TEXT[slice(*name)], layer, head))
    return found


@pytest.mark.parametrize("candidates", [[ANIMAL], [STREET], [ANIMAL, STREET]])
def test_no_head_puts_more_on_any_candidate(translator: Translator, trace: Trace, candidates: list[Span]) -> None:
    link = pronoun_link(translator, trace, PRONOUN, candidates)
    assert link is not None
    best = max(every_weight(translator, trace, candidates))
    assert link.weight == pytest.approx(best[0])
    assert (link.antecedent, link.layer, link.head) == best[1:]
    assert (link.site, link.pronoun, link.written) == ("encoder.self", "it", "")


def test_the_key_is_the_piece_with_most_weight(translator: Translator, trace: Trace) -> None:
    link = pronoun_link(translator, trace, PRONOUN, [STREET])
    assert link is not None
    (pieces,) = pieces_of_spans(translator.tokenizer.offsets(TEXT), [STREET])
    weights = trace.weights(link.site, link.layer, [link.head])[0, link.row]
    assert link.key == max(pieces, key=lambda key: float(weights[key]))


def test_without_a_candidate_there_is_no_link(translator: Translator, trace: Trace) -> None:
    assert pronoun_link(translator, trace, PRONOUN, []) is None


def test_a_translation_without_the_pronoun_has_no_step(translator: Translator, trace: Trace) -> None:
    assert written_step(translator, trace, ANIMAL) is None
