"""A page loads the libraries that it needs for what it shows first, and no others."""

import json
import subprocess
import sys

import pytest

from tests.paths import ROOT

#: The last one begins with translations of small models, which chrF compares.
PAGES = {
    "": "Attention", "learn": "Learn", "decode": "Decode", "compare": "Compare", "atlas": "Atlas",
    "model": "Model", "experiments": "Experiments",
}  # fmt: skip
NEEDED = {("Experiments", "sacrebleu")}
UNNEEDED = {
    # What else a page can be asked for: each of these comes with the first model, measure or download that needs it.
    "transformers": "models of other people",
    "huggingface_hub": "their download",
    "peft": "adapters of such models",
    "accelerate": "such models that are larger than the memory",
    "captum": "attribution by gradients",
    "bertviz": "bertviz's views, when the open head is drawn so",
    "IPython": "is imported by bertviz",
    "mpld3": "has d3 for bertviz's views, and is never imported",
    "matplotlib": "is imported by mpld3",
    "sacrebleu": "scores of a whole test set",
    "scipy": "confidence intervals of measurements",
    "py3langid": "the language of a text that is no example",
    "rjieba": "words of Chinese",
    "budoux": "words of Japanese",
    "segno": "the code of an address, when one is shown",
    # What libraries load for purposes that are none of ours.
    "pandas": "Streamlit's tables; ours are shown by pages that have some, when they do",
    "pyarrow": "as pandas",
    "altair": "Streamlit's own charts",
    "sympy": "torch's compiler",
    "torch._dynamo": "torch's compiler, which a model on the device meta would load",
    "torch._inductor": "torch's compiler",
    "beartype": "checks the types of shapes, in tests alone",
}
OPEN = """
import json, sys
from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

for address in sys.argv[2:]:
    app = AppTest.from_file(sys.argv[1], default_timeout=300)
    # The page that an address opens: `switch_page` only knows those of a run before.
    app._page_hash = calc_hash(address) if address else ""
    app.run()
    assert not app.exception and not app.error, (app.exception, app.error)
    print(json.dumps([app.title[0].value, list(sys.modules)]), flush=True)
"""


@pytest.mark.long
def test_an_opened_page_has_loaded_what_it_needs_alone() -> None:
    """In one process: what a page loads too much is there once it was opened, and at the pages after it."""
    command = [sys.executable, "-W", "ignore", "-c", OPEN, str(ROOT / "app.py"), *PAGES]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, encoding="utf-8")
    assert done.returncode == 0, done.stderr[-3000:]
    pages = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("[")]
    assert [title for title, _ in pages] == list(PAGES.values())
    unneeded = [
        (title, name, UNNEEDED[name])
        for title, modules in pages
        for name in UNNEEDED.keys() & set(modules)
        if (title, name) not in NEEDED
    ]
    assert not unneeded, min(unneeded, key=lambda each: list(PAGES.values()).index(each[0]))
