"""The integration's actions. Each module contains one action or two similar actions."""
