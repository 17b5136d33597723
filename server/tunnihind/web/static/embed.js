// Starts the small view: the present price and the chart.

import { startView } from "./view.js";

startView();
