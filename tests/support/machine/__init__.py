"""Helpers for the machine: processes, shifted clocks, nginx, the local network, Node.js."""
