"""Save a picture by its button, in a format that the Export menu would choose."""

from playwright.sync_api import Locator


def save_button(root: Locator, form: str) -> Locator:
    """The button of what `root` shows, once the page saves pictures in this format ("PNG", "SVG" or "PDF")."""
    root.page.evaluate("(form) => { globalThis.headlightFormat = form; }", form)
    return root.get_by_role("button", name="Save this picture", exact=True)
