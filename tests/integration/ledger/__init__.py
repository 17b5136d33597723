"""What windows cost and saved."""
