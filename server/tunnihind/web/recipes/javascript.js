// For Node.js or a browser. A page of any site may read the API.
const answer = await fetch("http://tunnihind.local:8080/api/v1/forecast");
const body = await answer.json();
if (!answer.ok) throw new Error(body.detail);

for (const hour of body.dayAhead) {
  console.log(`${hour.startsAt}  ${hour.eurKwh} EUR/kWh`);
}

for (const hour of body.forecast) {
  console.log(`${hour.startsAt}  ${hour.p50Kwh} (${hour.p10Kwh} to ${hour.p90Kwh})`);
}
