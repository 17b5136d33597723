"""The household's past prices and costs, for statistics in Home Assistant's recorder."""
