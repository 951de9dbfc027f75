"""What runs inside the Python image, around the author's code."""
