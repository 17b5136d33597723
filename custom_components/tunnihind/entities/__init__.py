"""The sensors, and the triggers and conditions for automations."""
