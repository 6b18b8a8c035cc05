"""The coreference lab: a pronoun in two sentences, every head measured over a set, and a cause put to the test.

Knows no model.
"""

from viz import choices, frame
from viz.tabs import lab_cause, lab_measured, lab_pairs

frame.title(
    "Compare",
    "“The animal didn't cross the street because it was too tired”, or “too wide”: one word decides what “it” stands "
    "for. See which heads follow, measure them over many sentences, and test whether they are the cause.",
)
with frame.errors_shown():
    tabs = (lab_pairs, lab_measured, lab_cause)
    frame.tabs("lab", {name: tab.show for name, tab in zip(choices.LAB, tabs, strict=True)})
