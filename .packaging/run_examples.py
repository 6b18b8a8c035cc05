"""Run every example of a README with the installed package, from the folder in which its checkpoints are."""

import os
import re
import sys
from pathlib import Path

import headlight

text = Path(sys.argv[1]).read_text(encoding="utf-8")
os.chdir(Path(headlight.__file__).parent)
names: dict[str, object] = {}
examples = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
for example in examples:
    exec(re.sub(r"^from model\b", "from headlight.model", example, flags=re.MULTILINE), names)
assert examples
assert not {"model", "viz"} & sys.modules.keys()
print(f"{len(examples)} examples run with headlight {headlight.__version__}.")
