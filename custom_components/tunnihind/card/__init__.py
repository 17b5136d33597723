"""The card with the household's prices: its contents, and its delivery to dashboards."""
