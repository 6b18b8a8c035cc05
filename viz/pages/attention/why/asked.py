"""What the tab Why asks: the cell that a person has chosen, or the one most worth asking about, and the twin."""

from typing import TYPE_CHECKING

from viz.access import texts
from viz.pages.attention import data
from viz.selection import state
from viz.ui import finding, words

if TYPE_CHECKING:
    from model import Trace
    from model.reader import Reader


def asked_cell(trace: "Trace", reader: "Reader") -> data.Asked:
    """The question of a trace, whose head is proposed to the page where no person has chosen one.

    The page's own finding comes first, if it is a pronoun that is linked with its antecedent; else the most telling
    cell. Of words of several tokens it is the two tokens with the largest weight.
    """
    common, choices = state.current().common, state.current().attention
    has_twin = not choices.without_twin and trace.source.has_words
    text = (common.other_text or texts.known_twin(trace.text)).strip() if has_twin else ""
    twin = "" if text == trace.text else text
    state.drop_asked(rival_key=(choices.rival_key or 0) >= len(trace.axis_tokens(common.site)[1]))
    rival = state.current().attention.rival_key
    row, key = finding.kept(trace)
    if not common.head_chosen and (row, key) == (None, None) and not any(words.chosen_in(trace)):
        told = data.telling_cell(reader, trace, twin)
        if told is not None:
            state.propose(site=told.site, layer=told.layer, head=told.head)
            return data.Asked(told.site, told.layer, told.head, told.row, told.key, rival, twin)
    site, layer, head = common.site, common.layer, common.head
    if row is None or row >= len(trace.axis_tokens(site)[0]):
        row, key = finding.default_cell(trace, site)
    if common.whole_words and key is not None:
        row, key = data.largest_of_words(trace, site, layer, head, row, key)
    is_ours = bool(twin) and not common.other_text
    # A decoder alone may not have read the word yet in which our twin differs.
    if is_ours and not trace.source_ids and not data.is_read_by(data.twin_trace(reader, trace, twin), trace, row):
        twin = ""
    return data.Asked(site, layer, head, row, key, rival, twin)
