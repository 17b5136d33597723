"""The forms and flows for a household's prices and plans."""
