// Starts the small view: the present price and the chart.

import { start } from "./view.js";

start();
