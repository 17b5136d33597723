"""The HTTP API: the types of its answers, and the code that makes and sends them."""
