"""Training on sentence pairs: data, schedule, loss, loop. Imports neither Streamlit nor anything that only tests need."""
