"""The model that lessons run on, and the words and heads that their files name."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from model.errors import TraceError
from viz.access import findings, head_jobs, traces, word_links
from viz.pages.learn.lessons.lesson import LessonFileError
from viz.selection.model_choice import ModelChoice
from viz.text.sites import CROSS, ENCODER, SITES

if TYPE_CHECKING:
    from model import Trace, Translator

#: The head that is most worth seeing of the sentence, as the attention page opens on it.
FINDING: Final = "finding"


@dataclass(frozen=True, slots=True)
class Shipped:
    """The first model of the server's list, by its choice and loaded."""

    choice: ModelChoice
    translator: "Translator"

    def trace(self, text: str) -> "Trace":
        """What the model did with a sentence while it translated it."""
        return traces.trace(self.translator, text)

    def head(self, trace: "Trace", named: str) -> tuple[str, int, int]:
        """The site, layer and head, from 0, that a lesson names.

        Args:
            trace: the sentence.
            named: "finding"; "most METRIC SITE", the head whose job has the highest metric in the atlas; or the head
                itself, "encoder.self 3 1".
        """
        if named == FINDING:
            found = findings.finding(trace, self.translator)
            return found.site, found.layer, found.head
        match named.split():
            case ["most", metric, site] if site in SITES:
                return site, *self._most(metric, site)
            case [site, layer, head] if site in SITES:
                layers, heads = trace.shapes[site]
                return site, min(int(layer), layers - 1), min(int(head), heads - 1)
        raise LessonFileError(f"A head is “finding”, “most METRIC SITE” or “SITE LAYER HEAD”, not {named!r}.")

    def _most(self, metric: str, site: str) -> tuple[int, int]:
        """The head of a site with the highest value of a job's metric; the first where no head has the job."""
        measured = head_jobs.of_model(self.choice, site)
        jobs = {} if measured is None else measured.of_heads
        values = {at: job.value for at, of_head in jobs.items() for job in of_head if job.metric == metric}
        return max(values, key=lambda at: values[at], default=(0, 0))

    def row(self, trace: "Trace", site: str, word: str) -> int:
        """The row in which a word looks: its last token's in the encoder, that which writes its first in the decoder.

        A word that the model did not write becomes the first that it wrote.
        """
        known = word_links.words(trace)
        own = [index for index, label in enumerate(known.labels) if label.strip(".,!?") == word]
        if site == ENCODER:
            if not own or not known.is_source(own[0]):
                raise _no_word(word, trace)
            return known.groups[own[0]][-1]
        written = [index for index in own if not known.is_source(index)] or [known.num_source]
        return max(0, known.groups[written[0]][0] - 1)

    def keys(self, trace: "Trace", site: str, word: str) -> tuple[int, ...]:
        """The columns of a word of the sentence, or of the translation in the decoder's self-attention."""
        known = word_links.words(trace)
        for index, label in enumerate(known.labels):
            if label.strip(".,!?") == word and known.is_source(index) == (site in (ENCODER, CROSS)):
                return known.groups[index]
        raise _no_word(word, trace)


def _no_word(word: str, trace: "Trace") -> TraceError:
    return TraceError(
        "This model has no word “{word}” there for “{text}”; the step speaks of one that has.",
        word=word,
        text=trace.text,
    )
