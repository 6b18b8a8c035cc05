"""The modules of the model that bring torch along, each imported when it is first asked for (PEP 562).

from model import later

later.head_metrics.head_metrics(rows)
"""

# Imported for whoever asks for them.
# mypy: implicit-reexport
# ruff: noqa: F401

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any


def imported_later(name: str) -> Callable[[str], Any]:
    """The `__getattr__` of a module that makes an import of its `if TYPE_CHECKING:` when it is first asked for."""
    named: dict[str, tuple[str, str]] = {}

    def get(asked: str) -> Any:
        if not named:
            named.update(_imports_of(name))
        if asked not in named:
            raise AttributeError(f"module {name!r} has no attribute {asked!r}")
        module, own = named[asked]
        return getattr(__import__(module, fromlist=[own]), own)

    return get


def _imports_of(name: str) -> dict[str, tuple[str, str]]:
    # Not at the top: whoever begins with the smallest module of a package begins with this one.
    import ast
    from pathlib import Path

    tree = ast.parse(Path(sys.modules[name].__file__ or "").read_text(encoding="utf-8"))
    imports = [node for block in tree.body if isinstance(block, ast.If) for node in block.body]
    return {
        alias.asname or alias.name: (node.module or "", alias.name)
        for node in imports
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


if TYPE_CHECKING:
    from model import cluster, evaluation, opening, reader, sequence_translator, translator
    from model.adapters import capture, inspect_folder, library, probe, text_reader
    from model.analysis import (
        corpus,
        data_files,
        head_circuits,
        moved_heads,
        moved_report,
        positions,
        two_models,
        word_diff,
    )
    from model.analysis.ablations import outputs
    from model.analysis.ablations import results as ablation_results
    from model.analysis.ablations import table as ablations_table
    from model.analysis.atlas import file as atlas_file
    from model.analysis.atlas import measure as atlas_measure
    from model.analysis.attribution import choice as attribution_choice
    from model.analysis.attribution import methods as attribution_methods
    from model.analysis.coreference import case_files, pronoun_choice, pronoun_rows
    from model.analysis.head_description import corpora as head_corpora
    from model.analysis.head_description import describe as head_describing
    from model.analysis.head_description import file as head_files
    from model.analysis.head_description import measure as head_measuring
    from model.analysis.head_description import writing as head_writing
    from model.analysis.interventions import (
        edit_comparison,
        head_effects,
        head_verdict,
        parts_off,
        patching,
        word_pairs,
    )
    from model.analysis.metrics import alignment, derived_row, head_jobs, head_metrics, measures
    from model.analysis.reasons import cell as reasons_cell
    from model.analysis.reasons import held_run as reasons_run
    from model.analysis.reasons import pairs as reasons_pairs
    from model.analysis.reasons import score as reasons_score
    from model.analysis.reasons import trail as reasons_trail
    from model.analysis.reasons import twins as reasons_twins
    from model.analysis.reasons import without as reasons_without
    from model.analysis.residual_stream import norms, streams
    from model.nn import edits, encoder_decoder
    from model.parts import removal
    from model.sources import picture_file
    from model.trace import axes, row_blocks
    from model.trace import file as trace_file
    from model.training import ablations
else:
    __getattr__ = imported_later(__name__)
