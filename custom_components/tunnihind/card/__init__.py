"""Makes and sends the contents of the dashboard card, and serves the card's files."""
