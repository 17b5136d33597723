"""Point models: they learn an hour's price from columns."""
