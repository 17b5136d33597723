"""A running server within a test, and the documents that a server of the specification sends."""
