// The small view for other pages.

import { startView } from "./view.js";

startView();
