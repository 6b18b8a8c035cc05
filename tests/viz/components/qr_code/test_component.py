"""The address as a QR code."""

from viz.components.qr_code.component import MAX_LENGTH, modules


def test_a_code_is_a_square_that_grows_with_the_address() -> None:
    short, long = modules("http://a.b/"), modules("http://a.b/" + "x" * 200)
    assert {len(row) for row in short} == {len(short)}
    assert len(long) > len(short)


def test_an_address_too_long_for_a_screen_has_no_code() -> None:
    assert modules("x" * MAX_LENGTH)
    assert modules("x" * (MAX_LENGTH + 1)) == ()
    assert modules("") == ()


def test_text_of_any_kind_can_be_encoded() -> None:
    assert modules("http://a.b/?text=Grüße 😀 <script>")
