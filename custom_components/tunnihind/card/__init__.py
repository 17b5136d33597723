"""The card of the household's price: its contents, and the way to a dashboard."""
