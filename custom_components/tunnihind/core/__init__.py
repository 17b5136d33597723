"""Prices and fees: the zones, VAT, public holidays, tariffs, levels and starts, as pure functions.

The Home Assistant integration holds this package, and the server has it too, as `tunnihind.core`: in a clone, by a
symbolic link. So the modules import only one another, the standard library and `holidays`.
"""
