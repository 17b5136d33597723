"""The answers of the API as types, by what they tell of: their JSON, its OpenAPI document and their tests follow them.

Schema names, field names, order and required fields are the specification's. Descriptions are
`string.Template`s: `$vat` stands for the VAT rate in force, which the OpenAPI document fills in.
"""
