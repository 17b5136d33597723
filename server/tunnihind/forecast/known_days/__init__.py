"""What is known, laid on a grid of delivery days by 24 clock hours."""
