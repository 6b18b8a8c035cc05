"""The package that people install: one import name, one command, and nothing called `model` or `viz` beside it."""

import os
import re
import subprocess
import sys
import tomllib
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest
import yaml

from tests.paths import ROOT
from tests.patience import PATIENCE

#: What a package is called there → on PyPI.
OF_CONDA = {"pytorch": "torch", "pysoundfile": "soundfile", "soxr-python": "soxr", "brotli-python": "brotli"}


@pytest.fixture(scope="module")
def hooks() -> ModuleType:
    spec = spec_from_file_location("build_hooks", ROOT / ".packaging" / "build_hooks.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def site(hooks: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder into which the package is installed, with what pip writes beside it."""
    folder = tmp_path_factory.mktemp("site")
    hooks.write_package(ROOT, folder / "headlight")
    (folder / "headlight-0.0.1.dist-info").mkdir()
    (folder / "headlight-0.0.1.dist-info" / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: headlight\nVersion: 0.0.1\n", encoding="utf-8"
    )
    return folder


def run(site: Path, *arguments: str) -> str:
    """What a Python prints that knows the package and not the repository, in the folder with the app's settings."""
    prelude = f"import sys; sys.path.insert(0, {str(site)!r})\n"
    done = subprocess.run(
        [sys.executable, "-P", "-c", prelude + arguments[0], *arguments[1:]],
        cwd=site / "headlight", capture_output=True, encoding="utf-8", timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2_000:]
    return done.stdout


@pytest.mark.long
def test_the_readmes_example_the_names_the_command_and_the_app_work_without_packages_of_other_names(site: Path) -> None:
    """In one process, for torch takes seconds to begin."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```python\n(import headlight\n.*?)```", readme, re.DOTALL)
    example_ends, names, translation, *help_, app, ours = run(
        site,
        f"{example}\nprint(headlight.__version__, reader.trace('A cat.').weights('decoder.cross', 3).shape[0])\n"
        "print([type(getattr(headlight, name)).__name__ for name in headlight.__all__])\n"
        "from headlight.__main__ import main\n"
        "for words in (['translate', 'The cat sleeps.'], ['translate', '--help']):\n"
        "    sys.argv[1:] = words\n"
        "    try:\n        assert not main()\n    except SystemExit as end:\n        assert not end.code\n"
        "sys.argv[1:] = []\n"
        "from pathlib import Path\nfrom streamlit.testing.v1 import AppTest\n"
        "app = AppTest.from_file(str(Path(headlight.__file__).with_name('app.py')), default_timeout=300).run()\n"
        "print([each.value for each in (*app.exception, *app.error)], len(app.get('bidi_component')) > 3)\n"
        "print(sorted(name for name in sys.modules if name.partition('.')[0] in ('model', 'viz')))",
    ).splitlines()
    assert example_ends == "0.0.1 8"
    assert "Trace" not in names
    assert translation == "Die Katze schläft."
    assert help_
    assert "python -m model" not in "\n".join(help_)
    assert app == "[] True"
    assert ours == "[]"


@pytest.mark.long
def test_made_sentences_are_no_part_of_it_and_a_training_that_asks_for_them_says_so(site: Path, tmp_path: Path) -> None:
    (tmp_path / "pairs.tsv").write_text("A cat.\tEine Katze.\n", encoding="utf-8")
    said = run(
        site,
        "from headlight.__main__ import main\nsys.stderr = sys.stdout\nsys.argv[0] = 'headlight'\n"
        "try:\n    code = main()\nexcept SystemExit as end:\n    code = end.code\nsys.exit(code - 2)",
        "train", "--data", str(tmp_path / "pairs.tsv"), "--dev", str(tmp_path / "pairs.tsv"), "--pronouns", "0.1",
        "--run", str(tmp_path / "run"), "--out", str(tmp_path / "out"),
    )  # fmt: skip
    assert "train from a clone, or without --pronouns" in said
    assert not (site / "headlight" / "model" / "training" / "affordances.txt").exists()


@pytest.mark.long
@pytest.mark.filterwarnings("default")
def test_every_notebook_runs_with_the_package_and_shows_its_pictures(site: Path, tmp_path: Path) -> None:
    """One after another in one process, for torch takes seconds to begin."""
    import nbformat
    from jupyter_client.manager import KernelManager
    from nbclient import NotebookClient

    shown = {}
    manager = KernelManager()
    manager.start_kernel(env=os.environ | {"PYTHONPATH": str(site)}, cwd=str(tmp_path))
    try:
        for path in sorted((ROOT / ".github" / "docs" / "notebooks").glob("*.ipynb")):
            notebook = nbformat.read(path, as_version=4)
            client = NotebookClient(notebook, km=manager, timeout=PATIENCE)
            client.execute()
            assert client.kc is not None
            client.kc.stop_channels()
            outputs = [output for cell in notebook.cells for output in cell.get("outputs", ())]
            # A library's progress bar is a widget, too, where these are installed.
            views = [
                each
                for each in outputs
                if "application/vnd.jupyter.widget-view+json" in each.get("data", {})
                and "%|" not in each["data"].get("text/plain", "")
            ]
            # What a page made of the notebook shows without a script.
            stills = [each for each in outputs if each.get("data", {}).get("image/svg+xml", "").startswith("<svg")]
            assert len(stills) == len(views)
            text = "".join(output.get("text", "") for output in outputs if output.get("name") == "stdout")
            shown[path.name[0]] = len(views), text
    finally:
        manager.shutdown_kernel(now=True)
    # Libraries may show progress of their own besides.
    least = {"1": 4, "2": 2, "3": 2, "4": 2, "5": 0}
    assert shown.keys() == least.keys()
    assert all(views >= least[name] for name, (views, _) in shown.items())
    # What each text says of its model is so.
    assert "PointAt: Das Tier überquerte die Straße nicht, weil sie" in shown["1"][1]
    assert "is_exact=True" in shown["2"][1]
    assert "weight on what comes later: 0.0" in shown["5"][1]
    assert "beam: Sie liebte es, ihren Bruder zu necken." in shown["5"][1]
    for count in (0, 1):
        assert re.search(f"{count} heads off: .* → 'k wnvb. qsxk", shown["3"][1])
    assert re.search("4 heads off: .* → ", shown["3"][1])
    assert not re.search("4 heads off: .* → ['\"]k wnvb", shown["3"][1])
    assert (
        "against the mean of all others: layer 0, head 2 × layer 0, head 0 is the largest pair in 120 of 120"
        in shown["3"][1]
    )
    no_positions = re.search(r"no-positions: (.*) \| (.*)", shown["4"][1])
    assert no_positions is not None
    assert no_positions[1] == no_positions[2]
    assert (tmp_path / "heads.html").is_file()


@pytest.mark.long
def test_every_module_does_without_what_only_tests_need() -> None:
    """`.ci/wheel` runs the commands likewise, a gallery with its documents among them."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.stranger.product"],
        cwd=ROOT, env=os.environ | {"PYTHONPATH": str(ROOT / "tests" / "stranger")},
        capture_output=True, encoding="utf-8", timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2_000:]
    assert int(done.stdout.partition(" ")[0]) > 300


@pytest.mark.parametrize(
    ("written", "packaged"),
    [
        ("from model.nn import hooks", "from headlight.model.nn import hooks"),
        ("    from viz import locale", "    from headlight.viz import locale"),
        ("import model.errors", "import headlight.model.errors"),
        ("from modelling import a", "from modelling import a"),
        ("from . import model", "from . import model"),
        ("run `python -m model train`", "run `headlight train`"),
        ("python -m viz.gallery --out site", "headlight gallery --out site"),
    ],
)
def test_only_imports_of_ours_and_the_command_change(hooks: ModuleType, written: str, packaged: str) -> None:
    assert hooks.packaged(written) == packaged


def test_the_recipe_of_conda_has_the_version_and_the_requirements_of_the_package() -> None:
    recipe = yaml.safe_load((ROOT / ".packaging" / "conda" / "recipe.yaml").read_text(encoding="utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert recipe["context"]["version"] == project["version"]
    assert f">={recipe['context']['python_min']}" == project["requires-python"]
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    # A package for every system has none that only some have.
    pinned = dict(line.lower().split("==") for line in lines if line[:1].isalpha() and ";" not in line)
    least = {}
    for line in recipe["requirements"]["run"][1:]:
        name, bounds = line.split(" ")
        least[OF_CONDA.get(name, name)] = bounds
    assert least.keys() == pinned.keys()
    for name, version in pinned.items():
        major, minor, *_ = version.split(".")
        assert least[name] == f">={major}.{minor},<{int(major) + 1}"


def test_a_pinned_version_is_the_least_one_of_the_package(hooks: ModuleType) -> None:
    metadata: dict[str, list[str]] = {}
    hooks.CustomMetadataHook(str(ROOT), {}).update(metadata)
    assert all(re.fullmatch(r"[\w.-]+~=\d+\.\d+(; sys_platform .+)?", line) for line in metadata["dependencies"])
    assert "torch~=2.13" in metadata["dependencies"]


def test_a_hosted_build_says_where_the_project_is_and_one_elsewhere_says_nothing(
    hooks: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    for repository, urls in (("one/fork", ["https://git.example/one/fork"]), ("", [])):
        metadata: dict[str, dict[str, str]] = {}
        for name, value in (("GITHUB_SERVER_URL", "https://git.example"), ("GITHUB_REPOSITORY", repository)):
            monkeypatch.setenv(name, value)
        hooks.CustomMetadataHook(str(ROOT), {}).update(metadata)
        assert [url for name, url in metadata["urls"].items() if name == "Source"] == urls
