"""Open a page on what is most worth seeing of a trace, until a person chooses a head, and say it in a sentence."""

from typing import TYPE_CHECKING

from viz.access import findings, models, texts
from viz.selection import state
from viz.selection.selection import Selection
from viz.text.messages import _
from viz.text.metrics import METRICS
from viz.text.written import NAMES, head_label, spoken
from viz.ui import frame, token_labels, words

if TYPE_CHECKING:
    from model import Trace
    from viz.access.findings import Finding


def open_on_finding(trace: "Trace") -> None:
    """Propose the head that is most worth seeing, and fit the selection to the model and the text."""
    with frame.loading(_("Looking for the head that is most worth seeing …")):
        found = of(trace)
    state.propose(site=found.site, layer=found.layer, head=found.head)
    fit(trace)


def fit(trace: "Trace") -> None:
    """Fit attention, layer and head to a trace; drop the query, the key and the words that an address lacks here."""
    state.fit(trace.shapes)
    common, count = state.current().common, len(texts.words(trace).labels)
    queries, keys = map(len, trace.axis_tokens(common.site))
    state.drop_asked(token=(common.token or 0) >= queries, key_token=(common.key_token or 0) >= keys)
    sides = {"from_words": common.from_words, "to_words": common.to_words}
    state.drop_asked(**{name: max(side, default=0) >= count for name, side in sides.items()})


def of(trace: "Trace", selection: Selection | None = None) -> "Finding":
    """What is most worth seeing of a trace of the model that is chosen, or that another selection names."""
    return findings.finding(trace, (selection or state.current()).model)


def kept(trace: "Trace") -> tuple[int | None, int | None]:
    """The query and the key that are kept: a person's, or those of the finding where a person chose no head."""
    common = state.current().common
    if common.head_chosen or (common.token, common.key_token) != (None, None):
        return common.token, common.key_token
    found = of(trace)
    cell = found.link or found.cell
    return (None, None) if cell is None else (cell.row, cell.key)


def default_cell(trace: "Trace", site: str, selection: Selection | None = None) -> tuple[int, int | None]:
    """The row to begin with where a page needs one, and the key if one is known: of the word that a person has chosen,
    else the finding's where its attention is open, else the row of the pronoun.

    Another selection than the person's says what is chosen for a picture with a model of its own.
    """
    (looking, _looked_at), selection = words.chosen_in(trace, selection), selection or state.current()
    found = of(trace, selection)
    cell = found.link or found.cell
    if looking and (row := texts.cell_of_word(trace, site, looking[0])[0]) is not None:
        return row, None
    if selection.common.head_chosen or cell is None or found.site != site:
        return token_labels.default_row(trace, site, models.languages(selection.model)), None
    return cell.row, cell.key


def parts(trace: "Trace") -> list[str]:
    """What was found, in a sentence, while its head is open: by turns plain words and words that stand out."""
    found, common = of(trace), state.current().common
    is_open = (common.site, common.layer, common.head) == (found.site, found.layer, found.head)
    return in_parts(found) if is_open else []


def in_parts(found: "Finding") -> list[str]:
    """`sentence`, by turns plain words and words that stand out; none where nothing was measured."""
    said = sentence(found)
    return said.split("**") if said else []


def sentence(found: "Finding") -> str:
    """What was found, with ** around words that stand out; "" where nothing was measured."""
    link, where = found.link, {"head": head_label(found.layer, found.head), "attention": NAMES[found.site].phrase}
    if link is not None:
        words = {"pronoun": link.pronoun, "antecedent": link.antecedent, "weight": link.weight}
        if link.written:
            message = (
                "When the model writes “{written}” for “{pronoun}”, **{head}** of the {attention} gives "
                "**{weight:.4f}** of its weight to “{antecedent}”."
            )
            return _(message, written=link.written, **words, **where)
        message = "**{head}** of the {attention} gives **{weight:.4f}** of the weight of “{pronoun}” to “{antecedent}”."
        return _(message, **words, **where)
    if (cell := found.cell) is not None:
        message = (
            "When the model writes “{written}”, **{head}** of the {attention} gives **{weight:.4f}** of its weight "
            "to {place}."
        )
        written, place = spoken(cell.written), spoken(cell.looked_at)
        if cell.is_moment:
            place = _("{seconds} s", seconds=place.removesuffix("s"))
        return _(message, written=written, place=place, weight=cell.weight, **where)
    if found.surest is not None:
        job = found.surest.job
        values = {"metric": _(METRICS[job.metric].name).lower(), "value": job.value}
        if found.has_job:
            message = (
                "**{head}** of the {attention} does its job most clearly here: {metric}, **{value:.2f}** on average "
                "over the rows of this text."
            )
            return _(message, **values, **where)
        message = (
            "No head has a clear job here. **{head}** of the {attention} comes nearest to one: {metric}, "
            "**{value:.2f}** on average over the rows of this text."
        )
        return _(message, **values, **where)
    return ""
