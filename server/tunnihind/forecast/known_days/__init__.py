"""The known data on a grid of delivery days by 24 clock hours."""
