"""Bring every catalogue up to date with the source, or begin a new one.

python -m viz.locale            what is new in the source comes into each catalogue, what is gone leaves it
python -m viz.locale begin fr   a new language: an empty catalogue, viz/locale/fr.po
python -m viz.locale missing    what is not translated yet: language, file and text, a line each
"""

import sys
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.pofile import read_po, write_po

from model.file_writing import print_in_utf_8
from viz.locale.extraction import template
from viz.text.messages import FOLDER


def main(arguments: list[str]) -> int:
    """Do what the arguments say; the exit status."""
    match arguments:
        case []:
            for path in sorted(FOLDER.glob("*.po")):
                update(path)
        case ["begin", code]:
            path = FOLDER / f"{code}.po"
            assert not path.exists(), f"{path} is there already"
            _write(Catalog(locale=code, fuzzy=False), path)
            update(path)
        case ["missing"]:
            for path in sorted(FOLDER.glob("*.po")):
                say_missing(path)
        case _:
            print(__doc__, file=sys.stderr)
            return 2
    return 0


def update(path: Path) -> None:
    """Write a catalogue anew: the texts of the source in its order, each with the translation that it has."""
    before, after = read(path), template()
    for message in after:
        known = before.get(message.id, message.context) if message.id else None
        if known is not None:
            message.string, message.flags, message.user_comments = known.string, known.flags, known.user_comments
    after.locale = before.locale
    _write(after, path)


def say_missing(path: Path) -> None:
    """Print what a catalogue does not translate."""
    for message in read(path):
        if message.id and not (all(message.string) if isinstance(message.string, tuple) else message.string):
            where = message.locations[0][0] if message.locations else "-"
            print(path.stem, where, repr(message.id), sep="\t")


def read(path: Path) -> Catalog:
    """The catalogue of a file."""
    with path.open("rb") as file:
        return read_po(file, locale=path.stem)


def _write(catalogue: Catalog, path: Path) -> None:
    # Without dates and line numbers: what differs is a text that changed.
    rules = f"nplurals={catalogue.num_plurals}; plural={catalogue.plural_expr};"
    head = ("Language: " + path.stem, "Content-Type: text/plain; charset=utf-8", "Plural-Forms: " + rules)
    with path.open("wb") as file:
        file.write("".join(['msgid ""\nmsgstr ""\n', *(f'"{line}\\n"\n' for line in head), "\n"]).encode())
        write_po(file, catalogue, width=120, omit_header=True, include_lineno=False)


if __name__ == "__main__":
    print_in_utf_8()
    sys.exit(main(sys.argv[1:]))
