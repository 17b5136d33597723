"""The HTTP API: the types of its answers, how they are made and kept ready, and how they are sent."""
