"""Point models: what learns the price of an hour from columns."""
