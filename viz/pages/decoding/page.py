"""The decoding page: watch a translation being written, and make the model write another one."""

from functools import partial

from viz.access import models
from viz.selection import state
from viz.selection.choices import DecodingTab
from viz.text.messages import _
from viz.ui import downloads, frame

head = frame.title(
    _("Decode"),
    _(
        "The decoder writes one token at a time, from left to right. Step with the buttons or the arrow keys, see "
        "the candidates and what every head attends to, and make the model write something else."
    ),
)
with frame.errors_shown():
    with frame.loading():
        # After the title, which waits for no library.
        from viz.pages.decoding import attribution, sampling, translation_controls, translations
        from viz.pages.decoding import export as own_export
        from viz.pages.decoding.beam import tab as beam
        from viz.pages.decoding.film import tab as film
        from viz.pages.decoding.logit_lens import tab as logit_lens

        abilities = models.attending(state.current().model).abilities
    if frame.lacking(abilities, "decoding", _("The Attention page shows what the heads of this model attend to.")):
        if abilities.has("word choice"):
            attribution.show_masked()
    else:
        trace = translations.shown(head)
        translation_controls.propose(trace)
        searches = {"Greedy": film.show, "Beam search": beam.show, "Sampling": sampling.show}
        inside = {"Logit lens": logit_lens.show, "Attribution": attribution.show}
        tabs: list[frame.Tab[DecodingTab]] = [
            ("Film", partial(translation_controls.asked, searches)),
            ("Inside", partial(translation_controls.asked, inside)),
        ]
        downloads.files(partial(own_export.files, trace))
        frame.tabs("decoding_tab", tabs, trace)
        downloads.python("decoding_tab", own_export.VIEWS, trace)
