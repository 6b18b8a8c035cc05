"""Pure figures: the same arrays in, the same plotly figure out. No Streamlit, no torch, no state."""
