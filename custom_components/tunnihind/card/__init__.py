"""The card of the household's price: what it shows, and how it comes to a dashboard."""
