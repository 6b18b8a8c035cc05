"""Headlight in the browser, `streamlit run app.py`: page configuration, shared sidebar, navigation; nothing else."""

from contextlib import nullcontext
from pathlib import Path

import streamlit as st
from starlette.middleware import Middleware

from model import stopping
from viz import warm_start
from viz.server import opening_page, scripts, widgets

# A file of our own: Streamlit fetches a Material icon for the browser's tab from the network.
MARK = Path(__file__).parent / "viz" / "mark.svg"


def run() -> None:
    """One run of the page that is open in a session."""
    # Not at the top: the server answers first, and then `warm_start` imports them.
    from viz.access import models
    from viz.selection import catalogue, state
    from viz.selection.selection import PAGES
    from viz.selection.url import OLD_ADDRESSES
    from viz.server import memory
    from viz.server.opening_page import first_picture
    from viz.text.messages import _
    from viz.ui import frame, present
    from viz.ui.frame import page_style
    from viz.ui.present import begin_story, follow
    from viz.ui.sidebar import is_shown, sidebar, tell_missing

    widgets.run_to_their_end()
    st.logo(str(MARK), size="large")
    frame.check_settings()
    names = list(catalogue.models())
    state.begin(names)
    state.turn_page()
    # Without icons eight of them fit into the bar at 800 pixels, as `viz/ui/page_style.css` lays it out.
    pages = [
        st.Page(
            f"viz/pages/{name}/page.py",
            title=_(page.title),
            url_path=page.address or None,
            default=not page.address,
            visibility="visible" if is_shown(page.tab) else "hidden",
        )
        for name, page in PAGES.items()
    ]
    # They lead to the page that has what they meant.
    pages += [st.Page(lambda: None, url_path=address, visibility="hidden") for address in OLD_ADDRESSES]
    page = st.navigation(pages, position="top")
    # A menu with an entry of our own exists, out of sight; our settings press its choice of the theme.
    title = f"{page.title} – Headlight"
    st.set_page_config(title, str(MARK), layout="wide", initial_sidebar_state=290, menu_items={"About": "Headlight"})
    page_style()
    follow(pages, page)
    begins = begin_story(page)
    complete_sidebar = sidebar(names)
    tell_missing(names)
    told = st.container(key="notices")
    story = st.container(key="story")
    keeps = first_picture.kept(page.title, models.first_files) if begins else nullcontext()
    with keeps, frame.page_run():
        page.run()
        if state.current().common.story:
            # Most who come have closed it.
            from viz.pages.learn.story import bar

            bar.show(story)
    frame.show_notices(told)
    complete_sidebar()
    state.end()
    present.draw()
    memory.freeze_kept()
    memory.hand_back()


if __name__ == "__main__":
    # So Streamlit runs this file, once for every run of a session.
    run()
else:
    # And so it imports it once, for the server, which runs this very file.
    stopping.notice()
    app = st.App(
        __file__,
        lifespan=warm_start.while_serving,
        routes=scripts.routes(),
        middleware=[Middleware(widgets.ForgedWidgets), Middleware(opening_page.OpeningPage)],
    )
