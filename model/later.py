"""The modules of the model that bring torch along, each imported when it is first asked for (PEP 562).

from model import later

later.head_metrics.head_metrics(rows)
"""

# Imported for whoever asks for them.
# mypy: implicit-reexport
# ruff: noqa: F401

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Final

#: Package → those of its modules whose own names say enough.
_PACKAGES: Final = {
    "": "evaluation loaded opening sequence_translator translator",
    ".adapters": "capture decoder_sizes image_reader inspect_folder library proof text_reader",
    ".analysis": "head_circuits library_circuits two_models word_diff",
    ".analysis.ablations": "outputs",
    ".analysis.attribution": "deletion",
    ".analysis.coreference": "case_files pronoun_choice pronoun_rows",
    ".analysis.interventions": "edit_comparison head_effects head_verdict parts_off patching",
    ".analysis.metrics": "derived_row head_jobs head_metrics head_names measures",
    ".analysis.residual_stream": "streams",
    ".nn": "edits encoder_decoder",
    ".trace": "axes row_blocks",
    ".training": "ablations",
}
MODULES: Final = {name: f"{package}.{name}" for package, names in _PACKAGES.items() for name in names.split()} | {
    "ablations_table": ".analysis.ablations.table",
    "atlas_file": ".analysis.atlas.file",
    "atlas_measure": ".analysis.atlas.measure",
    "attribution_choice": ".analysis.attribution.choice",
    "attribution_methods": ".analysis.attribution.methods",
    "trace_file": ".trace.file",
}

if TYPE_CHECKING:
    from model import evaluation, loaded, opening, sequence_translator, translator
    from model.adapters import capture, decoder_sizes, image_reader, inspect_folder, library, proof, text_reader
    from model.analysis import head_circuits, library_circuits, two_models, word_diff
    from model.analysis.ablations import outputs
    from model.analysis.ablations import table as ablations_table
    from model.analysis.atlas import file as atlas_file
    from model.analysis.atlas import measure as atlas_measure
    from model.analysis.attribution import choice as attribution_choice
    from model.analysis.attribution import deletion
    from model.analysis.attribution import methods as attribution_methods
    from model.analysis.coreference import case_files, pronoun_choice, pronoun_rows
    from model.analysis.interventions import edit_comparison, head_effects, head_verdict, parts_off, patching
    from model.analysis.metrics import derived_row, head_jobs, head_metrics, head_names, measures
    from model.analysis.residual_stream import streams
    from model.nn import edits, encoder_decoder
    from model.trace import axes, row_blocks
    from model.trace import file as trace_file
    from model.training import ablations
else:

    def __getattr__(name: str) -> ModuleType:
        if name not in MODULES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return import_module(MODULES[name], __package__)
