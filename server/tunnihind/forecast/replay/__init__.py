"""Replays a point model through past days, as if it had run all along."""
