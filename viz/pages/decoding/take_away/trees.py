"""Trees as JSON: the branches that a person made of a translation, and those that a beam search compared.

Numbers, steps, layers and heads count from 0; log-probabilities are natural, and null where a token was written that
the model's rules forbid: JSON has no −∞. Texts are in UTF-8.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from math import isfinite
from typing import TYPE_CHECKING

from model.errors import HeadlightError
from viz.pages.decoding.branch_codes import Action, Choice, Draw, EditHead, write_code

if TYPE_CHECKING:
    from model import BeamTree, Trace


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
