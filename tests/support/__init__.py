"""Helpers that tests share: played upstreams, clocks, scripted sources, and what fills a store."""
