"""The HTTP API: response models, the snapshot of ready answers, routes and their manners."""
