"""The OpenAPI 3.1 description of the API. Its schemas are built from the types of the answers."""
