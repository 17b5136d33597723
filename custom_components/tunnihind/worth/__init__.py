"""What contracts, network packages and a battery would be worth, by the household's own readings of the past year."""
