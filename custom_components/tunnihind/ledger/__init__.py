"""What the windows that ran cost and saved, by the prices that came."""
