"""The dashboard card with the household's prices. Makes the card's contents, and serves the card's files."""
