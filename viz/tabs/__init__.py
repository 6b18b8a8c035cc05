"""What lies behind the tabs of the attention and masks pages, one module a tab. Each draws with Streamlit."""
