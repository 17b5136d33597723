"""Homes with batteries, and an independent solver for them."""
