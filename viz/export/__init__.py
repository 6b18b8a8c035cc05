"""What people take along: names of files, tables, a page that opens offline. Knows nothing of Streamlit."""
