"""A real browser, the pages and the card in it, and how colours look to people."""
