"""What stands around every figure: page frame, sidebar, controls, downloads, progress of long work."""
