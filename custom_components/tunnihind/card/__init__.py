"""The card of the household's price: its contents, and how they get to a dashboard."""
