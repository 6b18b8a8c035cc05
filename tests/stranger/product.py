"""Import every module of the product: python -m tests.stranger.product."""

import ast
from importlib import import_module
from typing import Final

from tests.paths import ROOT

#: The one module that asks for anywidget, which a notebook alone needs.
OF_A_NOTEBOOK: Final = "viz.notebook.widget"


def modules() -> list[str]:
    """Names of all modules."""
    files = (path.relative_to(ROOT) for name in ("model", "viz") for path in sorted((ROOT / name).rglob("*.py")))
    names = (".".join(file.with_suffix("").parts).removesuffix(".__init__") for file in files)
    return [name for name in names if name != OF_A_NOTEBOOK]


def take_in(name: str) -> None:
    """Import a module; of a page, which runs when it is imported, what it imports."""
    if not name.endswith(".page"):
        import_module(name)
        return
    tree = ast.parse(ROOT.joinpath(*name.split(".")).with_suffix(".py").read_text(encoding="utf-8"))
    tree.body = [each for each in tree.body if isinstance(each, ast.Import | ast.ImportFrom)]
    exec(compile(tree, name, "exec"), {"__name__": name})


if __name__ == "__main__":
    for name in modules():
        take_in(name)
    print(len(modules()), "modules")
