"""One package for each page: its tabs, data, figures, tables and scripts. Pages never import each other."""
