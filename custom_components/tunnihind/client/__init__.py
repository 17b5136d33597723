"""Sends requests to a server, and keeps the prices that the server has sent."""
