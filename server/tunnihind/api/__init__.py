"""The HTTP API: the types of its answers, and how answers are made, kept ready and sent."""
