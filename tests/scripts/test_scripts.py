"""The scripts' pure parts do as their own tests say, run by Node; types and form are checked in `.ci/run`."""

import subprocess
from pathlib import Path

import pytest

from tests.scripts.node import NODE

FOLDER = Path(__file__).parent
TESTS = sorted(FOLDER.glob("*.test.mjs"))


@pytest.mark.parametrize("path", TESTS, ids=lambda path: path.name)
def test_the_scripts_do_as_their_tests_say(path: Path) -> None:
    # Scripts are read as modules although no package.json beside them says that they are.
    command = [NODE, "--disable-warning=MODULE_TYPELESS_PACKAGE_JSON", "--test", str(path)]
    result = subprocess.run(command, capture_output=True, encoding="utf-8", cwd=FOLDER)
    assert result.returncode == 0, result.stdout
    assert "pass 0" not in result.stdout
