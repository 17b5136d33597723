"""The types of the API's answers. The answers' JSON, the OpenAPI document and the tests use these types.

The API's specification fixes the names of schemas and fields, the fields' order, and which are required. Descriptions
are `string.Template`s. In the OpenAPI document, the server's values replace placeholders such as `$vat`.
"""
