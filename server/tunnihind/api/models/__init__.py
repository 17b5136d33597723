"""The types of the API's answers. The answers' JSON and the schemas of the OpenAPI document are made from these types.

The API's specification fixes the names of schemas and fields, the order of the fields, and which fields are required.
Descriptions may contain placeholders such as `$vat`. `api.openapi.document` replaces them with the server's values.
"""
