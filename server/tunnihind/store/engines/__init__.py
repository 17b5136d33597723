"""The database systems that the store can use: what differs between them is in here, and nowhere else."""
