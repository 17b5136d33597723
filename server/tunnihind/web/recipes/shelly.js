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
  let end = 0;
  // The next day may begin 23 or 25 hours later.
  for (let ahead = 0; end <= ts; ahead++) {
    end = new Date(day.getFullYear(), day.getMonth(), day.getDate() + ahead, CONFIG.by, 0, 0).getTime() / 1000;
  }
  return end;
}

// The prices by hour. A market price replaces the forecast.
function pricesIn(body) {
  let prices = {};
  for (let i = 0; i < body.forecast.length; i++) prices[body.forecast[i].ts] = body.forecast[i].p50Kwh;
  for (let i = 0; i < body.dayAhead.length; i++) prices[body.dayAhead[i].ts] = body.dayAhead[i].eurKwh;
  return prices;
}

function decide(body) {
  let hour = Math.floor(body.now / 3600) * 3600;
  let prices = pricesIn(body);
  if (prices[hour] === undefined) return;
  let deadline = deadlineAfter(hour);
  if (deadline !== state.deadline) state = { hour: 0, deadline: deadline, used: 0 };
  let cheaper = 0;
  for (let ts = hour + 3600; ts < deadline; ts += 3600) if (prices[ts] < prices[hour]) cheaper++;
  let on = cheaper < CONFIG.hours - state.used;
  state.hour = hour;
  if (on) state.used++;
  Shelly.call("Switch.Set", { id: CONFIG.output, on: on });
}

// Decides once an hour. Without the price of the hour, leaves the switch as it is, and asks again after a minute.
function tick() {
  if (Math.floor(Date.now() / 3600000) * 3600 === state.hour) return;
  Shelly.call("HTTP.GET", { url: CONFIG.url, timeout: 15 }, function (answer, error) {
    if (error === 0 && answer.code === 200) decide(JSON.parse(answer.body));
  });
}

Timer.set(60000, true, tick);
tick();
