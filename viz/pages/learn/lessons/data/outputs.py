"""Views of what the model writes: as it is, and with heads or parts taken out."""

from typing import TYPE_CHECKING, Final, Literal

from viz.core.html import Column, Marked
from viz.core.sites import head_label
from viz.pages.learn.lessons.pictures import FullPage, Rows, View
from viz.ui.word_differences import marked

if TYPE_CHECKING:
    from viz.pages.learn.lessons.data.shipped import Shipped

_GERMAN: Final = "de"
#: Characters of a translation without an end that are shown.
_LONGEST: Final = 160


def translations(shipped: "Shipped", *, texts: list[str]) -> View:
    """What the model writes for some sentences."""
    written = [shipped.trace(text).translation for text in texts]
    found: dict[str, float | str] = {f"translation_{number}": own for number, own in enumerate(written, 1)}
    columns = (Column("English", language="en"), Column("German", language=_GERMAN))
    picture = Rows(columns, tuple(zip(texts, written, strict=True)))
    return View(picture, found, "Written just now by the model, greedily.", FullPage("decoding", {"text": texts[0]}))


def without_heads(shipped: "Shipped", *, text: str, heads: list[str]) -> View:
    """The translation as it is, and with each of some heads switched off, one at a time."""
    from model.analysis.interventions.edit_comparison import compare_edit
    from model.nn.edits import SwitchOff

    trace = shipped.trace(text)
    rows: list[tuple[str | Marked, ...]] = [("none", trace.translation, "")]
    found: dict[str, float | str] = {"translation": trace.translation}
    changed = 0
    for number, named in enumerate(heads, 1):
        site, layer, head = shipped.head(trace, named)
        result = compare_edit(shipped.translator, text, 0, [SwitchOff(site, layer, head)])
        changed += result.first_difference is not None
        name = head_label(layer, head, site)
        rows.append(
            (
                name,
                _marked(result.original_text, result.edited_text),
                "no" if result.first_difference is None else "yes",
            )
        )
        found |= {f"head_{number}": name, f"without_{number}": result.edited_text}
    found |= {"changed": changed, "heads": len(heads), "verdict": "Yes" if changed else "No"}
    columns = (Column("switched off"), Column("German", language=_GERMAN), Column("changed"))
    caption = "Each row is a whole translation, written anew without that head. **Marked** is what differs."
    site, layer, head = shipped.head(trace, heads[0])
    choices = {"text": text, "site": site, "layer": layer, "head": head, "decoding_tab": "Edit attention"}
    return View(Rows(columns, tuple(rows)), found, caption, FullPage("decoding", choices))


def without_part(
    shipped: "Shipped", *, texts: list[str], part: Literal["positions", "scaling", "heads", "residuals", "norms"]
) -> View:
    """Translations as they are, and with a part of the architecture taken out of every layer."""
    from model.analysis.interventions.parts_off import PartOff, translate_without

    whole = [shipped.trace(text).translation for text in texts]
    without = translate_without(shipped.translator, texts, PartOff(part))
    shown = [text if len(text) <= _LONGEST else f"{text[:_LONGEST]} …" for text in without]
    found: dict[str, float | str] = {"same": sum(map(str.__eq__, whole, without)), "sentences": len(texts)}
    for number, (own, other) in enumerate(zip(whole, shown, strict=True), 1):
        found |= {f"translation_{number}": own, f"without_{number}": other or "nothing"}
    columns = (
        Column("English", language="en"),
        Column("whole", language=_GERMAN),
        Column(f"without {part}", language=_GERMAN),
    )
    rows = tuple(zip(texts, whole, map(_marked, whole, shown), strict=True))
    caption = "Taken out of the trained model, in every layer; all that is left was fitted to what is gone."
    return View(
        Rows(columns, rows), found, caption, FullPage("why_attention", {"text": texts[0], "why_tab": "Live switches"})
    )


def _marked(whole: str, other: str) -> Marked:
    """The second text, with the words marked that the first does not have there."""
    from model.analysis.word_diff import word_diff

    return marked(word_diff(whole, other))
