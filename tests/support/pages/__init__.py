"""A real browser, what pages and the card show in it, and how colours are seen."""
