"""The forecast. It uses numpy only, and its functions depend only on the data known at an instant."""
