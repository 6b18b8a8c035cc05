"""The files that the decoding page offers: tables, trees, arrays."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import partial
from math import isfinite
from typing import TYPE_CHECKING

import streamlit as st

from model.errors import HeadlightError
from viz.access import models, trace_files
from viz.pages.decoding import translations
from viz.pages.decoding.data import searches
from viz.selection import state
from viz.selection.branch_codes import Action, Choice, Draw, EditHead, write_code
from viz.selection.selection import Selection
from viz.text.messages import _, plural
from viz.text.sites import file_name
from viz.ui import long_work, trace_tables
from viz.ui.downloads import Offer, show_offer

if TYPE_CHECKING:
    from model import BeamTree, Trace


def files(trace: "Trace") -> None:
    """The tables, arrays and trees of the translation that is shown."""
    selection = state.current()
    of_branch = f"branch{selection.decoding.branch}" if selection.decoding.branch else ""
    st.markdown(_("**The translation shown**"))
    show_offer(
        Offer(
            _("Steps and candidates"),
            _("CSV: each step’s token, its probability, entropy and 20 candidates"),
            partial(trace_tables.steps, trace),
            f"{file_name('decoding', of_branch, sentence=trace.text)}.csv",
            "text/csv",
            620 * len(trace.steps),
        )
    )
    show_offer(
        Offer(
            _("NumPy arrays"),
            _("every weight, query, key and value of all attentions, tokens and steps; `numpy.load` reads it")
            if trace_files.has_weights(trace)
            else _("queries, keys and values of all attentions, tokens and steps; `numpy.load` reads it"),
            partial(trace_files.content, trace),
            f"{file_name('trace', of_branch, sentence=trace.text)}.npz",
            "application/octet-stream",
            trace_files.size(trace),
        )
    )
    _offer_trees(trace, selection)


def _offer_trees(trace: "Trace", selection: Selection) -> None:
    st.markdown(_("**Trees**"))
    made = translations.choices()
    written = partial(translations.written, *translations.source(), made)
    checkpoint, digest = models.identity(selection.model)
    show_offer(
        Offer(
            _("Branches"),
            plural(
                "JSON: the model’s own translation and {count} branch: what was done and where, text, tokens, "
                "log-probabilities",
                "JSON: the model’s own translation and {count} branches: what was done and where, text, tokens, "
                "log-probabilities",
                len(made),
            ),
            lambda: branches(made, written(), text=trace.text, checkpoint=checkpoint, digest=digest),
            f"{file_name('branches', sentence=trace.text)}.json",
            "application/json",
            150 * (1 + len(made)) * len(trace.steps),
        )
    )
    width, penalty = searches.beam_settings(selection.decoding)
    show_offer(
        Offer(
            _("Beam search"),
            _(
                "JSON: every hypothesis that a beam of {width} with a length penalty of {penalty:g} compared, with "
                "its score and its outcome",
                width=width,
                penalty=penalty,
            ),
            partial(_beam, selection, checkpoint, digest),
            f"{file_name(f'beam{width}', sentence=trace.text)}.json",
            "application/json",
            2 * width * 320 * len(trace.steps),
        )
    )


def _beam(selection: Selection, checkpoint: str, digest: str) -> bytes:
    """When a button is pressed, there is no session to ask what is chosen: it is passed in."""
    text = selection.common.text
    tree = long_work.in_this_thread(searches.searching(models.writer(selection.model), text, selection.decoding))
    return beam(tree, text, checkpoint=checkpoint, digest=digest)


def branches(
    made: Sequence[Choice], traces: Sequence["Trace | HeadlightError"], *, text: str, checkpoint: str, digest: str
) -> bytes:
    """Every translation: how it came about, its text, its tokens and their log-probabilities.

    Args:
        made: the choice behind each branch, number 1 first.
        traces: of each translation, number 0 (the model's own) first; the error of one that cannot be written.
        text: the sentence.
        checkpoint, digest: of the model.
    """
    listed = [
        {"branch": number, **_origin(choice), **_written(trace)}
        for number, (choice, trace) in enumerate(zip((None, *made), traces, strict=True))
    ]
    return _json({"text": text, "checkpoint": checkpoint, "digest": digest, "branches": listed})


def beam(tree: "BeamTree", text: str, *, checkpoint: str, digest: str) -> bytes:
    """Every hypothesis that a beam search compared, and what became of it; the fields are those of `BeamNode`."""
    return _json(
        {
            "text": text,
            "checkpoint": checkpoint,
            "digest": digest,
            "width": tree.width,
            "alpha": tree.alpha,
            "limit": tree.limit,
            "hypotheses": list(tree.hypotheses),
            "nodes": [asdict(node) for node in tree.nodes],
        }
    )


def _origin(choice: Choice | None) -> Mapping[str, object]:
    if choice is None:
        return {"parent": None, "step": None, "action": None, "code": None}
    return {
        "parent": choice.parent,
        "step": choice.step,
        "action": {"kind": _kind(choice.action), **asdict(choice.action)},
        "code": write_code(choice),
    }


def _kind(action: Action) -> str:
    return "edit" if isinstance(action, EditHead) else "draw" if isinstance(action, Draw) else "write"


def _written(trace: "Trace | HeadlightError") -> Mapping[str, object]:
    if isinstance(trace, HeadlightError):
        return {"translation": None, "error": str(trace)}
    return {
        "translation": trace.translation,
        "log_prob": sum(step.log_prob for step in trace.steps),
        "steps": [
            {"step": step.index} | {name: getattr(step, name) for name in ("token_id", "token", "log_prob", "entropy")}
            for step in trace.steps
        ],
    }


def _json(value: Mapping[str, object]) -> bytes:
    return json.dumps(_finite(value), ensure_ascii=False, indent=1, allow_nan=False).encode("utf-8")


def _finite(value: object) -> object:
    """The same, None in place of numbers that JSON does not have."""
    if isinstance(value, Mapping):
        return {key: _finite(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(inner) for inner in value]
    return None if isinstance(value, float) and not isfinite(value) else value
