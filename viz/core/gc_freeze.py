"""Call gc.freeze() so that Streamlit's per-run collection skips imported modules.

Streamlit collects after every run, while all viewers wait. The collector looks at every object that may hold another
one: some 400,000 once torch and transformers are loaded, which takes a quarter of a second in which no session runs.
Nearly all of them are parts of modules and stay as long as the process.
"""

import gc
import sys

_num_frozen_modules = 0


def freeze_modules() -> None:
    """At the end of a run that has imported something; after any other, nothing.

    Whatever else exists at that moment is frozen as well, and is freed all the same when nothing refers to it any more.
    Only circles of references would not be: those without a user are collected before, and the models and traces that
    pages keep hold none.
    """
    global _num_frozen_modules
    if len(sys.modules) > _num_frozen_modules:
        _num_frozen_modules = len(sys.modules)
        gc.collect()
        gc.freeze()
