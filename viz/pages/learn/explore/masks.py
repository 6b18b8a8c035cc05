"""The masks as the model used them: for the sentence by itself, and in a batch."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Self

import numpy as np
import streamlit as st
from jaxtyping import Bool, UInt8

from model.errors import InputTextError
from viz.access import attention, models
from viz.pages.learn.explore.data import masks as data
from viz.pictures.figures.masks import batch_overview, mask_heatmap, reasons
from viz.selection import state
from viz.text import written
from viz.text.html import visible
from viz.text.messages import _, said
from viz.text.written import file_name
from viz.ui import controls, frame, mechanisms, terms
from viz.ui.snippets import Snippet, line, of_text

if TYPE_CHECKING:
    from model import BatchMasks, Trace

#: So many sentences can be entered to share a batch with the one on the left.
MAX_COMPANIONS: Final = 8
#: So much of a sentence is shown where one of the batch is chosen.
MAX_LABEL: Final = 70


@dataclass(frozen=True, slots=True)
class SiteMask:
    """The mask of one attention of a batch in its two parts, True = may attend, and the names along its sides."""

    causal: Bool[np.ndarray, "query key"]
    padding: Bool[np.ndarray, "query key"]
    queries: Sequence[str]
    keys: Sequence[str]
    rows_write: bool = False  #: whether rows stand for what they write

    @classmethod
    def in_batch(cls, masks: "BatchMasks", row: int) -> dict[str, Self]:
        """Of one sentence of a padded batch, by site."""
        source, target = masks.source_tokens[row], masks.target_tokens[row]
        rows = masks.row_names[row]
        encoder, cross = masks.encoder_self[row], masks.decoder_cross[row]
        return {
            written.ENCODER: cls(np.ones_like(encoder), encoder, source, source),
            written.DECODER: cls(masks.causal, masks.target_padding[row], rows, target, rows_write=True),
            written.CROSS: cls(np.ones_like(cross), cross, rows, source, rows_write=True),
        }


@frame.fragment
def show(trace: "Trace") -> None:
    """The masks of the text, and those of a batch that it shares with others."""
    mechanisms.masks(trace)
    if frame.lacking(models.abilities(state.current().model), "batch masks"):
        return
    st.subheader(_("In a batch"), anchor=False)
    if any(attention.is_long(trace, site) for site in trace.sites):
        frame.note(
            "Masks of a batch are drawn up to {short} tokens per side; this text has more.", short=attention.SHORT
        )
        return
    with frame.errors_shown():
        _show_batch(trace)


def python(trace: "Trace") -> Snippet:
    """The masks of the sentence alone, and in its batch."""
    single = line("single = {{site: trace.mask(site, 0) for site in {}}}  # True where allowed", trace.sites)
    if not models.abilities(state.current().model).has("batch masks"):
        return of_text(trace, {}, single)
    texts = [trace.text, *companions(state.current().learn.batch_sentences)]
    return of_text(trace, {}, single, line("batch = reader.masks({})", texts))


def companions(typed: str) -> tuple[str, ...]:
    """The sentences, one a line. Raises an InputTextError if there are more than `MAX_COMPANIONS`."""
    lines = tuple(line.strip() for line in typed.split("\n") if line.strip())
    if len(lines) > MAX_COMPANIONS:
        raise InputTextError(
            "At most {max_companions} further sentences fit into the batch, one per line; there are {num_lines} "
            "lines. Remove {num_over}.",
            max_companions=MAX_COMPANIONS,
            num_lines=len(lines),
            num_over=len(lines) - MAX_COMPANIONS,
        )
    return lines


def _show_batch(trace: "Trace") -> None:
    typed = controls.sentences(
        "batch_sentences",
        _("Further sentences in the same batch, one per line, at most {max_companions}", max_companions=MAX_COMPANIONS),
    )
    texts = (trace.text, *companions(typed))
    with st.spinner(_("Translating the batch …")):
        masks = data.batch_masks(models.writer(state.current().model), texts)
    _show_padding(masks)
    labels = [f"{number} · {_shortened(text)}" for number, text in enumerate(texts, start=1)]
    row = controls.position(
        "batch_member", _("Sentence whose masks are shown"), labels, default=min(1, len(labels) - 1)
    )
    _draw(SiteMask.in_batch(masks, row))
    frame.caption(
        "`<pad>` is masked as a key for every query, so it never receives any weight. Rows of `<pad>` as a query "
        "are computed like all others, but their output is not used."
    )


def _show_padding(masks: "BatchMasks") -> None:
    """Who is padded how far, and how much of the batch that is."""
    sides = (
        (said("Source"), masks.encoder_self[:, 0], masks.source_tokens),
        (said("Translation"), masks.target_padding[:, 0], masks.target_tokens),
    )
    with st.grid(2, min_column_width=300, gap="medium"):
        for name, real, tokens in sides:
            with st.container(gap="xsmall"):
                message = "**{name}**: {share:.0%} padding, {padding} of {size} cells"
                terms.markdown(_(message, name=name, share=1 - real.mean(), padding=np.sum(~real), size=real.size))
                frame.chart(
                    batch_overview(real, tokens),
                    f"overview-{name}",
                    file_name("batch", name),
                    _("{name} of the batch: one row per sentence, tokens and then padding", name=name),
                )
    padding = np.concatenate([~real.ravel() for _, real, _ in sides])
    frame.caption(
        "All sentences of a batch are padded with `<pad>` to the length of the longest. Here **{share:.0%}** of all "
        "cells are padding: wasted computation. The more similar the lengths, the less padding, so sentences of about "
        "the same length are put into one batch (§5.1).",
        share=padding.mean(),
    )


def _draw(of: Mapping[str, SiteMask]) -> None:
    """The decoder's mask in two parts and whole, then the masks of the two other attentions."""
    decoder = of[written.DECODER]
    everything = np.ones_like(decoder.padding)
    causal = _("{site}: causal", site=written.label(written.DECODER))
    # Where three do not fit with labels that can be read, they stand below one another.
    with st.grid(3, min_column_width=290, gap="small"):
        _panel(causal, reasons(decoder.causal, everything), decoder, "batch-causal")
        _panel(_("∧ padding"), reasons(everything, decoder.padding), decoder, "batch-padding")
        _panel(_("= the mask that is used"), reasons(decoder.causal, decoder.padding), decoder, "batch-decoder")
    mechanisms.legend()
    st.markdown(_("**The other two attentions: padding of the source only**"))
    with st.grid(3, min_column_width=290, gap="small"):
        _whole(of[written.ENCODER], written.ENCODER, "batch-encoder")
        _whole(of[written.CROSS], written.CROSS, "batch-cross")


def _whole(mask: SiteMask, site: str, key: str) -> None:
    _panel(written.label(site), reasons(mask.causal, mask.padding), mask, key)


def _panel(title: str, codes: UInt8[np.ndarray, "query key"], site: SiteMask, key: str) -> None:
    with st.container(gap="xsmall"):
        terms.caption(title)
        figure = mask_heatmap(codes, site.queries, site.keys, rows_write=site.rows_write)
        frame.chart(figure, f"mask-{key}", file_name("mask", key), title)


def _shortened(text: str) -> str:
    shown = visible(" ".join(text.split()))
    return shown if len(shown) <= MAX_LABEL else shown[:MAX_LABEL] + " …"
