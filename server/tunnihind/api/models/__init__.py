"""The types of the API's JSON answers, except EMHASS's feed and the OpenAPI document.

The JSON of these answers and the schemas of the OpenAPI document are made from the types. For `/api/v1/forecast` and
`/api/series`, the API's specification fixes the names of schemas and fields, and which fields are required. The
fields of these two answers are in the order of the specification.

Descriptions and examples may contain placeholders such as `$vat`. `api.openapi.document` replaces the placeholders with
the server's values.
"""
