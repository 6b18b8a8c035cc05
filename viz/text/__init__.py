"""What pages say: messages in every language, HTML, tokens, numbers, names of sites and files."""
