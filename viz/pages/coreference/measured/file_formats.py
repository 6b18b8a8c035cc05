"""Say what a file of sentences with pronouns looks like, as Markdown."""

from typing import Final

from viz.text.messages import said

FORMATS: Final = said(
    "| Ending | One line is |\n"
    "|---|---|\n"
    '| `.jsonl` | `{"sentence": "The cat ate the fish because it was hungry.", "pronoun": "it", '
    '"antecedent": "The cat", "distractor": "the fish"}`; a phrase that stands twice: characters `[begin, end]` '
    "instead. Optional: `id`, `group`, `pair` (the same for both of a minimal pair), `right` and `wrong` (German "
    "sentences that differ in the pronoun), `control` (true where the pronoun stands for neither) |\n"
    "| `.jsonl` | Winograd: `sentence`, `tokens`, and the three as half-open spans of tokens |\n"
    "| `.tsv` | sentence, pronoun, antecedent, distractor, and optionally right, wrong, with tabs between them |\n"
    "| `.txt` | WinoBias: `1 [The developer] argued with the designer because [she] did not like the design.`, the "
    "two sentences of a pair below each other |"
)
