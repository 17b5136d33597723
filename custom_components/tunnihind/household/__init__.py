"""A household's present prices and plans, and the problems with its prices and its server."""
