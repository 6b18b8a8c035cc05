"""Rows of a file of pronouns that several tests read."""

from model.analysis.coreference.cases import PronounCase

SENTENCE = "The dog saw the cat because it slept."
CASE = PronounCase(SENTENCE, (28, 30), (0, 7), (12, 19))


def spelled(case: PronounCase) -> tuple[str, str, str]:
    return tuple(case.sentence[slice(*span)] for span in case.spans)  # type: ignore[return-value]
