# The price of this hour in EUR/kWh with VAT.
curl --silent --compressed http://tunnihind.local:8080/api/v1/forecast | jq '.dayAhead[0].eurKwh'

# For repeated requests: keep the answer and its ETag. While nothing is new, the next answer is 304 without a body.
curl --silent --compressed --etag-compare tunnihind.etag --etag-save tunnihind.etag \
  --output tunnihind.json http://tunnihind.local:8080/api/v1/forecast
