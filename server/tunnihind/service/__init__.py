"""The running server: the API over the store, with the pipeline, or over a rehearsed day."""
