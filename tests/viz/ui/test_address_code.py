"""The address as a QR code."""

from viz.ui.address_code import MAX_LENGTH, picture


def test_every_address_has_a_code_of_its_own() -> None:
    codes = {picture(f"http://a.b/?layer={layer}") for layer in range(3)}
    assert len(codes) == 3
    assert all(code.startswith("data:image/svg+xml") for code in codes)


def test_an_address_too_long_for_a_screen_has_no_code() -> None:
    assert picture("x" * MAX_LENGTH)
    assert picture("x" * (MAX_LENGTH + 1)) == ""
    assert picture("") == ""


def test_text_of_any_kind_can_be_encoded() -> None:
    assert picture("http://a.b/?text=Grüße 😀 <script>")
