"""Run the app as a person opens it: at one of its pages, with an address; nothing may go wrong."""

from streamlit.testing.v1 import AppTest

from tests.paths import ROOT


def app_of(**params: object) -> AppTest:
    """The app, not run yet, with these parameters in its address."""
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    for name, value in params.items():
        app.query_params[name] = str(value)
    return app


def opened(app: AppTest, page: str = "attention", **params: object) -> AppTest:
    """Run a page, by the name of its folder, with these parameters in the address."""
    for name, value in params.items():
        app.query_params[name] = str(value)
    app.run()
    # The attention page is where the app opens.
    return healthy(app if page == "attention" else app.switch_page(f"viz/pages/{page}/page.py").run())


def healthy(app: AppTest) -> AppTest:
    """The same app, which shows neither a traceback nor an error."""
    assert not app.exception, app.exception[0].value
    assert not app.error, app.error[0].value
    return app
