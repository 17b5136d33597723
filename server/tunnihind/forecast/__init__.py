"""The forecast: numpy only, pure functions of what is known at an instant."""
