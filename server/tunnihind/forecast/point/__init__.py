"""Point models, which learn an hour's price from columns."""
