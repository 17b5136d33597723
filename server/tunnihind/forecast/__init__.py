"""The forecast, computed only from the data known at an instant."""
