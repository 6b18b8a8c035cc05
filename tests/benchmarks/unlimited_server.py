"""`streamlit` on whose server a viewer may compute as much at once as there is room for. Measures nothing."""

import sys
from math import inf

from streamlit.web.cli import main

from viz.server.job_queue import LONG_JOBS

if __name__ == "__main__":
    LONG_JOBS._of_one, LONG_JOBS._turn = sys.maxsize, inf
    main()
