"""The Transformer as one picture: from the model of the sentence down to a product of two numbers, and back.

Five depths: the model, a layer at a token, a head with one of its rows, one weight of that row, one product of its
score. Where a person is stands in the address. `walk_payload.py` says what the browser is told, `walk.js`
draws; here is what the page does with a place.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import streamlit as st

from viz.access import attention, models
from viz.pages.learn.transformer import data, embeddings, walk_file
from viz.pages.learn.transformer.walk_payload import COMPONENT, MOST, Told, WalkPicture, WalkState, lacks_scores
from viz.pictures import payload
from viz.pictures.component import play, reported_state
from viz.pictures.payload import read
from viz.selection import notices, state
from viz.selection.selection import Selection
from viz.server.widgets import sent
from viz.text.messages import _
from viz.text.written import SITES, decimal, file_name, head_name, scientific
from viz.ui import controls, downloads, finding, frame, present, sentence, terms, trace_tables

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

    from model import Reader, Trace

KEY: Final = "walk"


def show(head: "DeltaGenerator") -> None:
    """The sentence, and the picture."""
    with frame.loading():
        abilities = models.abilities(state.current().model)
    trace = sentence.read_and_show(state.current().common.text, head)
    if not trace.sites:
        frame.lacking(abilities, "self-attention")
        return
    finding.open_on_finding(trace)
    _walk(trace)


def _fit(trace: "Trace") -> None:
    """Drop what a new address asks for and this picture lacks; another place later may lack it by itself."""
    names = ("component", "walk_stop", "map_step")
    if not any(notices.is_asked(name, state.current()) for name in names):
        return
    reader, learn = models.text_reader(state.current().model), state.current().learn
    place = place_in(trace, reader)
    width = 0 if lacks_scores(reader) else trace.attention(place.site, place.layer).query.size(2)
    state.drop_asked(
        component=(learn.component or 0) >= width,
        walk_stop=place.stop > len(Told.of(trace, reader, replace(place, edit="")).stops),
        map_step=(learn.map_step or 0) >= WalkPicture.of(trace, reader, place).num_stages,
    )
    notices.settle(*names)


@frame.fragment
def _walk(trace: "Trace") -> None:
    """The picture, and below it what is said of the place."""
    _fit(trace)
    _picture(trace)
    reader, place = models.text_reader(state.current().model), _place(trace)
    chosen = state.current().common
    told = Told.of(trace, reader, replace(place, edit=""), scaled=chosen.scaled, masked=chosen.masked)
    name = _name(trace, place)
    if place.depth in ("head", "cell", "number") and not told.no_origin:
        _switches(trace, place)
    with st.container(horizontal=True, vertical_alignment="center"):
        if told.proof is not None:
            _badge(told.proof)
        if place.depth == "layer" and told.path is not None:
            controls.table_button(_("Table (CSV)"), partial(embeddings.parts, told.path), name)
        elif place.depth != "model" and told.origin is not None:
            shown, keys = told.origin.shown, told.origin.key_tokens
            controls.table_button(_("Table (CSV)"), partial(trace_tables.row_origin, shown, keys), name)
    if not present.is_on():
        for caution in data.cautions(trace, reader, told.path):
            terms.caption(caution)
        embeddings.offer(trace, reader, place.stack, place.row)
    downloads.files(partial(walk_file.offer, trace, reader, place))


@frame.fragment
def _picture(trace: "Trace") -> None:
    """The picture alone, as it is drawn while a person zooms: to draw what is below it would hold up the zoom."""
    reader, asked = models.text_reader(state.current().model), _place(trace)
    chosen = state.current().common
    told = None
    with frame.errors_shown():
        told = Told.of(trace, reader, asked, scaled=chosen.scaled, masked=chosen.masked)
    if told is None:
        # Only a reference that is too long cannot be read: the model's own run is drawn below the reason.
        asked = replace(asked, edit="")
        told = Told.of(trace, reader, asked, scaled=chosen.scaled, masked=chosen.masked)
    picture = WalkPicture.of(trace, reader, asked)
    play(
        COMPONENT,
        picture,
        asked=asked,
        read=partial(_read, trace),
        digest=payload.digest(picture),
        key=KEY,
        more={"name": _name(trace, asked), "asks": attention.can_ask_why(trace, reader), **told.packed()},
        on_report=partial(_go, asked),
    )


def _place(trace: "Trace") -> WalkState:
    """Where the page is, or the browser, if that has only gone on meanwhile."""
    asked = place_in(trace, models.text_reader(state.current().model))
    seen = reported_state(partial(_read, trace), KEY)
    if seen is None or state.current().learn.component is not None:
        return asked
    # Another component of the new row is no reason to lead a person back.
    return seen if replace(asked, dimension=seen.dimension) == seen else asked


def _name(trace: "Trace", place: WalkState) -> str:
    return file_name("transformer", place.depth, head_name(place.site, place.layer, place.head), sentence=trace.text)


def draw(trace: "Trace", reader: "Reader", choices: Mapping[str, Any], key: str, name: str) -> None:
    """The picture alone, as part of a lesson.

    Args:
        trace, reader: of the sentence.
        choices: by their names in the selection, where it begins; a person may go on from there.
        name: of pictures that are saved from it.
    """
    asked, hear = place_in(trace, reader, Selection().changed(**choices)), partial(_read, trace)
    place = reported_state(hear, key) or asked
    picture = WalkPicture.of(trace, reader, place)
    more = {"name": name, **Told.of(trace, reader, place).packed()}
    play(COMPONENT, picture, asked=asked, read=hear, digest=payload.digest(picture), key=key, more=more)


def _read(trace: "Trace", value: object) -> WalkState | None:
    heard = read(WalkState, value)
    return heard if heard is not None and heard.fits(trace) else None


def place_in(trace: "Trace", reader: "Reader", selection: Selection | None = None) -> WalkState:
    """Where a person is, or what another selection says, with what is most worth seeing where that leaves it open."""
    selection = selection or state.current()
    common, learn = selection.common, selection.learn
    sites = [site for site in SITES if site in trace.sites]
    site = common.site if common.site in sites else sites[0]
    queries, keys = map(len, trace.axis_tokens(site))
    layers, heads = trace.shapes[site]
    layer, head = min(common.layer, layers - 1), min(common.head, heads - 1)
    row, key = finding.default_cell(trace, site, selection)
    if common.token is not None and common.token < queries:
        row, key = common.token, None
    elif _shows_undivided(trace, selection, site, layer):
        row, key = attention.row_that_scaling_changes(trace, site, layer, head), None
    place = WalkState(
        step=MOST - 1 if learn.map_step is None else learn.map_step,
        depth=learn.depth,
        end=learn.path_end,
        site=site,
        layer=layer,
        head=head,
        row=row,
        key=0,
        dimension=learn.component or 0,
        stop=learn.walk_stop,
        lines=learn.lines,
        edit="" if "edits" in reader.abilities.lacks and learn.walk_edit != "forced" else learn.walk_edit,
    )
    if common.key_token is not None and common.key_token < keys:
        key = common.key_token
    if key is None:
        key = int(trace.weights(site, layer, [head], slice(row, row + 1)).argmax())
    if learn.component is None and not lacks_scores(reader):
        of_row = attention.derived_row(trace, site, layer, head, row, scaled=True, masked=True)
        place = replace(place, dimension=int(of_row.products[key].abs().argmax()))
    return replace(place, key=key)


def _shows_undivided(trace: "Trace", selection: Selection, site: str, layer: int) -> bool:
    """Whether the division by √d_k is switched off, in a text of which whole matrices are small."""
    is_off = not selection.common.scaled and trace.knows_inputs
    return is_off and trace.attention(site, layer).scale != 1 and not attention.is_long(trace, site)


def _go(asked: WalkState, place: WalkState) -> None:
    """Take what the browser reports into the selection: head, row and key only where they are not what was proposed.

    All is drawn anew, but while a zoom is under way the picture alone.
    """
    before, now = ((each.site, each.layer, each.head) for each in (asked, place))
    if now != before:
        state.choose(site=place.site, layer=place.layer, head=place.head)
    if now != before or (asked.row, asked.key) != (place.row, place.key):
        state.change(token=place.row, key_token=place.key)
    if asked.dimension != place.dimension:
        state.change(component=place.dimension)
    state.change(
        map_step=place.step,
        depth=place.depth,
        path_end=place.end,
        walk_stop=place.stop,
        lines=place.lines,
        walk_edit=place.edit,
    )
    if not sent(KEY, "view", "isMoving"):
        frame.rerun(_walk)


def _switches(trace: "Trace", place: WalkState) -> None:
    """Whether to scale and whether to mask, where the model divides and where a key is masked."""
    real = attention.derived_row(trace, place.site, place.layer, place.head, place.row, scaled=True, masked=True)
    offered = {"scaled": (_("Divide by √dₖ"), real.scale != 1), "masked": (_("Mask"), not bool(real.allowed.all()))}
    with st.container(horizontal=True):
        for field, (label, is_offered) in offered.items():
            if is_offered:
                st.toggle(label, **state.bound(field))
    if real.scale != 1 and not attention.is_long(trace, place.site):
        spread = attention.dot_product_spread(trace, place.site, place.layer, place.head)
        message = (
            "Over {pairs:,} pairs of this sentence, this head's scores have a standard deviation of {before} before "
            "and {after} after dividing by √dₖ."
        )
        frame.caption(message, pairs=spread.pairs, before=decimal(spread.before), after=decimal(spread.after))


def _badge(proof: tuple[float, float, str]) -> None:
    largest, bound, claim = proof
    difference = _("largest difference {difference}", difference=scientific(largest))
    if largest <= bound:
        st.badge(f"{claim}: {difference}", icon=":material/check:", color="green")
    else:
        st.badge(_("Not so: {claim}; {rest}", claim=claim, rest=difference), icon=":material/warning:", color="red")
