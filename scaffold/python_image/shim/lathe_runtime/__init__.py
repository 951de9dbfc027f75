"""The runtime of the Python image, which runs the author's code."""
