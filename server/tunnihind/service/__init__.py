"""The running server. It serves the API from the store and runs the pipeline, or serves a rehearsed day."""
