"""The types of the API's answers, for their JSON, the OpenAPI document and the tests.

The API's specification sets the names of schemas and fields, the order of fields, and the required fields. Descriptions
are `string.Template`s, in which the OpenAPI document replaces placeholders such as `$vat` with the server's values.
"""
