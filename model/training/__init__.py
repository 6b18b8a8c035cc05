"""Training on sentence pairs: data, schedule, loss, loop. Imports no Streamlit, and nothing that only tests need."""
