"""The page that tests the claims of the paper on this machine."""
