"""Find the head that looks most from a pronoun at what it stands for, over every attention, layer and head of a trace.

Only the rows of the pronoun are derived, so the length of a text hardly matters.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from jaxtyping import Float
from torch import Tensor

from model.analysis.coreference.cases import PronounCase
from model.analysis.coreference.pronoun_choice import find_pronoun
from model.analysis.coreference.pronoun_rows import reads_sentence
from model.analysis.coreference.span_attention import read_case
from model.analysis.metrics.head_names import HeadName
from model.reader import Reader
from model.sequence_translator import SequenceTranslator
from model.trace.trace import Trace
from model.words import Span


@dataclass(frozen=True)
class PronounLink:
    """A head that looks from a pronoun at its antecedent.

    Attributes:
        site, layer, head: which head.
        row: the query row: the pronoun's own where the sentence itself is read; in cross-attention the row that
            predicts the German pronoun. Of a pronoun of several tokens, its last.
        pronoun_row: the last of the pronoun's own rows.
        key: of the antecedent's tokens, the one with most weight.
        weight: summed over the antecedent's tokens, averaged over the pronoun's rows (Clark et al. 2019, §4.1).
        pronoun, antecedent: as the sentence has them.
        written: the German pronoun that the row predicts; "" where the sentence itself is read.
        step: the decoding step that writes that pronoun, whichever head this is; None where it is not known.
    """

    site: str
    layer: int
    head: int
    row: int
    pronoun_row: int
    key: int
    weight: float
    pronoun: str
    antecedent: str
    written: str
    step: int | None


def pronoun_link(
    reader: Reader, trace: Trace, pronoun: Span, candidates: Sequence[Span], *, taught: HeadName | None = None
) -> PronounLink | None:
    """The largest weight of any head from a pronoun to one of the words that it could stand for; of equal, the first.

    None where the model does not tell which tokens spell them, or has no attention from the one to the others. What
    became of the pronoun is known of translators to German only; of others, only the encoder is looked at.

    Args:
        taught: a head that training told to look there; it is left out, for what it does was not found.
    """
    cases = [PronounCase(trace.text, pronoun, candidate, candidate) for candidate in candidates]
    read = [(case, of) for case in cases if not isinstance(of := read_case(reader, case), str)]
    if not read:
        return None
    written = written_step(reader, trace, pronoun)
    step = None if written is None else written[0]
    pieces = read[0][1].pieces[0]
    found = [
        PronounLink(site, layer, heads[head], rows[-1], pieces[-1], key, weight, *_texts(case), word, step)
        for site, rows, word in _rows(trace, pieces, written)
        for layer in range(trace.layers_of(site))
        for case, of in read
        for heads in [[head for head in range(trace.heads_of(site)) if HeadName(site, layer, head) != taught]]
        if heads
        for weight, head, key in [_largest(trace.weights(site, layer, heads, rows), of.pieces[1])]
    ]
    best = max(found, key=lambda link: link.weight, default=None)
    return best if best is not None and best.weight > 0 else None


def written_step(reader: Reader, trace: Trace, pronoun: Span) -> tuple[int, str] | None:
    """The step of a trace that writes the German for a pronoun, and that word; None where it is not known."""
    if not isinstance(reader, SequenceTranslator) or reader.languages[1] != "de":
        return None
    end = reader.config.eos_id
    emitted = [step.token_id for step in trace.steps if step.token_id != end]
    found = find_pronoun(reader, PronounCase(trace.text, pronoun, pronoun, pronoun), emitted)
    return None if isinstance(found, str) else (found.row, found.text)


def _rows(trace: Trace, pieces: Sequence[int], written: tuple[int, str] | None) -> Iterator[tuple[str, list[int], str]]:
    """Each site that looks from the pronoun into the sentence, the rows that speak for it, and what they write."""
    for site in trace.sites:
        if reads_sentence(trace, site):
            yield site, list(pieces), ""
        elif site == "decoder.cross" and written is not None:
            yield site, [written[0]], written[1]


def _largest(weights: Float[Tensor, "head row key"], keys: Sequence[int]) -> tuple[float, int, int]:
    """The largest weight of any head from these rows to these keys, its head, and the key with most of it."""
    of_keys = weights[:, :, list(keys)].mean(1).nan_to_num(0.0)
    totals = of_keys.sum(-1)
    head = int(totals.argmax())
    return float(totals[head]), head, keys[int(of_keys[head].argmax())]


def _texts(case: PronounCase) -> tuple[str, str]:
    """Pronoun and antecedent as the sentence has them."""
    return case.sentence[slice(*case.pronoun)], case.sentence[slice(*case.antecedent)]
