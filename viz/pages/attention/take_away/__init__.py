"""The tab with files of the view: tables, arrays, a page that opens offline."""
