"""The integration's sensors, and its triggers and conditions for automations."""
