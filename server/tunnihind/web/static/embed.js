// The small view for other pages.

import { start } from "./view.js";

start();
