"""The command `headlight`: alone it opens the app in the browser; `headlight translate …` and the like need none.

`headlight gallery` writes the app's pictures as a site without a server, `headlight heads` says what heads do.
"""

import os
import sys
from pathlib import Path

from headlight.model import stopping
from headlight.model.thread_settings import sleep_while_waiting

APP = Path(__file__).with_name("app.py")
SETTINGS = Path(__file__).parent / ".streamlit" / "config.toml"


def main() -> None:
    """Run the app if no command of the command line is given, else that command."""
    # Before what takes seconds to import.
    stopping.end_at_once("headlight")
    sleep_while_waiting()
    arguments = sys.argv[1:]
    if not arguments or arguments[0] == "app":
        run_app(arguments[1:])
    elif arguments[0] == "gallery":
        from headlight.viz.gallery.__main__ import main as write_gallery

        sys.exit(write_gallery(arguments[1:]))
    elif arguments[0] == "heads":
        from headlight.viz.heads import main as say_heads

        sys.exit(say_heads(arguments[1:]))
    else:
        from headlight.model.__main__ import main as run_command

        sys.exit(run_command())


def run_app(arguments: list[str]) -> None:
    """`streamlit run` with Headlight's own settings; arguments after `--` are folders of models."""
    from streamlit.web import cli

    # Streamlit looks for settings in the folder in which it is started; these lie beside the app.
    os.chdir(APP.parent)
    sys.argv = ["streamlit", "run", str(APP), *arguments]
    cli.main()


if __name__ == "__main__":
    main()
