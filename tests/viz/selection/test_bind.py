"""What the browser is told of a widget's value: nothing that could undo a click which is on its way."""

from streamlit.testing.v1 import AppTest


def page() -> None:
    import streamlit as st

    from viz.selection import state

    state.begin(["en-de"])
    if st.toggle("Shown", True):
        key = state.bind("token", state.position("token", 3, default=1), always=False)
        st.pills("Word", range(3), key=key, on_change=state.take, args=("token",))
    if not st.checkbox("Cut short"):
        state.end()


def sends_value(app: AppTest) -> bool:
    return bool(app.button_group[0].proto.set_value)


def test_a_value_is_told_once_and_again_only_after_the_widget_was_away() -> None:
    app = AppTest.from_function(page).run()
    assert sends_value(app)
    assert not sends_value(app.run())
    app.toggle[0].set_value(False).run()
    app.toggle[0].set_value(True).run()
    assert sends_value(app)
    assert app.button_group[0].value == 1


def test_what_a_person_chooses_is_taken_and_not_told_again() -> None:
    app = AppTest.from_function(page).run()
    app.button_group[0].set_value(2)
    app.run()
    assert app.session_state["selection"].common.token == 2
    assert not sends_value(app)


def test_a_value_is_told_until_a_run_that_told_it_came_to_its_end() -> None:
    app = AppTest.from_function(page).run()
    app.checkbox[0].set_value(True)
    app.toggle[0].set_value(False).run()
    app.toggle[0].set_value(True).run()
    assert sends_value(app)
    assert sends_value(app.run())
    app.checkbox[0].set_value(False).run()
    assert not sends_value(app.run())
    app.checkbox[0].set_value(True).run()
    assert not sends_value(app.run())
