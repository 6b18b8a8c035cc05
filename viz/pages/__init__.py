"""One package for each page: its tabs, data, figures, tables and scripts. Pages never import each other.

Only data modules call the model; figures and tables know nothing of Streamlit.
"""
