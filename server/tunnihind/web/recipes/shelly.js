// Switches a Shelly (Gen2 or later) on in the cheapest hours before a daily deadline, for example to heat water.
let CONFIG = {
  url: "http://tunnihind.local:8080/api/v1/forecast",
  hours: 3, // how many hours a day
  by: 7, // ready by this hour of the Shelly's local clock
  output: 0,
};

let state = { hour: 0, deadline: 0, used: 0 };

function deadlineAfter(ts) {
  let day = new Date(ts * 1000);
  let end = new Date(day.getFullYear(), day.getMonth(), day.getDate(), CONFIG.by, 0, 0).getTime() / 1000;
  return end > ts ? end : end + 86400;
}

// The known prices of the hours from now to the deadline. A market price replaces the forecast.
function pricesUntil(body, now, deadline) {
  let prices = {};
  for (let i = 0; i < body.forecast.length; i++) prices[body.forecast[i].ts] = body.forecast[i].p50Kwh;
  for (let i = 0; i < body.dayAhead.length; i++) prices[body.dayAhead[i].ts] = body.dayAhead[i].eurKwh;
  let left = [];
  for (let ts = now; ts < deadline; ts += 3600) if (prices[ts] !== undefined) left.push(prices[ts]);
  return left;
}

function decide(body) {
  let hour = Math.floor(body.now / 3600) * 3600;
  let deadline = deadlineAfter(hour);
  if (deadline !== state.deadline) state = { hour: 0, deadline: deadline, used: 0 };
  let left = pricesUntil(body, hour, deadline);
  let cheaper = 0;
  for (let i = 1; i < left.length; i++) if (left[i] < left[0]) cheaper++;
  let on = cheaper < CONFIG.hours - state.used;
  state.hour = hour;
  if (on) state.used++;
  Shelly.call("Switch.Set", { id: CONFIG.output, on: on });
}

// Decides once an hour. Without an answer, leaves the switch as it is, and asks again after a minute.
function tick() {
  if (Math.floor(Date.now() / 3600000) * 3600 === state.hour) return;
  Shelly.call("HTTP.GET", { url: CONFIG.url, timeout: 15 }, function (answer, error) {
    if (error === 0 && answer.code === 200) decide(JSON.parse(answer.body));
  });
}

Timer.set(60000, true, tick);
tick();
