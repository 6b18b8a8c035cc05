"""Write finished traces as a site that needs no server.

python -m viz.gallery --out site                              what ships
python -m viz.gallery --out site --model FOLDER               and two sentences through a model of your own
python -m viz.gallery --out site --text "…" --model FOLDER    your own texts alone, through your models
python -m viz.gallery --out reports --atlas FILE.npz          what `python -m model atlas` measured, as one page
"""

from model import stopping
from model.thread_settings import sleep_while_waiting
from viz.gallery import PARTS, PROGRAM

if __name__ == "__main__":
    # Before what takes seconds to import.
    stopping.end_at_once(PROGRAM)
    sleep_while_waiting()

import argparse
import sys
from itertools import chain
from pathlib import Path

from tqdm import tqdm

from model.__main__ import Parser, executed
from model.arguments import path
from model.errors import ConfigError
from model.file_writing import check_folder, make_folder, print_in_utf_8, write_text


def build_parser() -> Parser:
    """The options."""
    parser = Parser(prog=PROGRAM, description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--out", type=path, required=True, metavar="DIR", help="folder to write the site into")
    text = "show this text instead of what ships; may be given several times"
    parser.add_argument("--text", action="append", default=[], metavar="TEXT", help=text)
    text = "a folder with a model; may be given several times (default for texts: the translator that ships)"
    parser.add_argument("--model", type=path, action="append", default=[], metavar="FOLDER", help=text)
    text = "write the report of this atlas, and no site; it is of --model, or of the model in whose folder it is"
    parser.add_argument("--atlas", type=path, metavar="FILE.npz", help=text)
    parser.set_defaults(execute=run)
    return parser


def run(arguments: argparse.Namespace) -> None:
    """Trace, and write the site."""
    check_folder(arguments.out)
    if arguments.atlas is not None:
        _write_report(arguments)
        return
    for part in PARTS:
        check_folder(arguments.out / part, arguments.out)
    # These import Streamlit and all pages, which a wrong option should not wait for.
    from viz.gallery import contents, site

    texts, models = arguments.text, arguments.model
    chosen = list(chain.from_iterable(contents.own(model, texts) for model in models or ([""] if texts else [])))
    exhibits = [*([] if texts else contents.shipped()), *chosen]
    with tqdm(total=len(exhibits), unit="trace") as bar:
        pages = site.write(arguments.out, exhibits, has_story=not texts, progress=bar.update)
    files = [file for file in Path(arguments.out).rglob("*") if file.is_file()]
    print(f"{pages} pages, {sum(file.stat().st_size for file in files) / 1e6:.1f} MB", file=sys.stderr)
    print(arguments.out / "index.html")


def _write_report(arguments: argparse.Namespace) -> None:
    from model.analysis.atlas.file import load_atlas
    from model.checkpoint import CONFIG
    from viz.pages.atlas.report import report

    model = arguments.model[0] if arguments.model else arguments.atlas.parent
    if not arguments.model and not (model / CONFIG).is_file():
        message = "{file} is not in the folder of a model. Name its model with --model FOLDER."
        raise ConfigError(message, file=arguments.atlas)
    atlas = load_atlas(arguments.atlas)
    page = arguments.out / f"{arguments.atlas.stem}.html"
    make_folder(arguments.out, arguments.out.parent)
    write_text(page, report(atlas, str(model)), arguments.out)
    print(page)


def main(argv: list[str] | None = None) -> int:
    """Run, and return the exit code."""
    return executed(build_parser().parse_args(argv), PROGRAM)


if __name__ == "__main__":
    print_in_utf_8()
    sys.exit(main())
