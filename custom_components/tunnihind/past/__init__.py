"""The household's past prices and costs, and the statistics in Home Assistant's recorder."""
