"""The database systems that the store can use. Only this package knows their differences."""
