"""What parts of the model are worth, and what heads become while a model is trained."""

from viz.selection import state
from viz.selection.choices import ExperimentsTab
from viz.text.messages import _
from viz.ui import downloads, frame, sentence

head = frame.title(
    _("Experiments"),
    _(
        "“Ablations” translates the sentence with models that lack a part, and removes parts from the open "
        "translator. “Through training” shows what each head attends to from step to step of a training run."
    ),
)
with frame.errors_shown():
    # After the title, which waits for no library.
    from viz.pages.experiments import ablations, python
    from viz.pages.experiments.through_training import tab as through_training

    trace = sentence.read_and_show(state.current().common.text, head)
    tabs: list[frame.Tab[ExperimentsTab]] = [("Ablations", ablations.show), ("Through training", through_training.show)]
    frame.tabs("experiments_tab", tabs, trace)
    downloads.python("experiments_tab", python.VIEWS, trace)
