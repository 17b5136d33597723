// Types of chart.js. Only the type checker reads these types.

/** Two instants, or the x coordinates of two edges. */
export interface Span {
  from: number;
  to: number;
}

/**
 * `price` is the published price or a forecast's median. `low` and `high` are the forecast's 10th and 90th percentile.
 * They are null for a published price. The card's prices are in EUR/kWh, and a page's are in the reader's unit. `tint`
 * is an index of TINTS. It is null if the colour is unknown, and for all forecasts of a page.
 */
export interface Period {
  start: number;
  end: number;
  price: number;
  low: number | null;
  high: number | null;
  tint: number | null;
}

/**
 * A local day of 23, 24 or 25 hours. `number` is the number of days since 1 January 1970. `names` are the names of the
 * day, from the longest to the shortest. `hour` is the hour on the clock, from 0 to 23.
 */
export interface Day {
  start: number;
  end: number;
  number: number;
  names: string[];
  hours: { ts: number; hour: number; text: string }[];
}

export interface Label {
  text: string;
  x: number;
  y: number;
  anchor?: string;
  kind?: string;
}

/**
 * The data to draw. If `forecasts` is given, it is drawn instead of the forecasts in `periods`. `pointedStart` is the
 * start of the period pointed at, or null.
 */
export interface Scene {
  periods: Period[];
  forecasts?: Period[];
  days: Day[];
  now: number;
  view: Span;
  pointedStart: number | null;
}

/**
 * The edges of the plot. Without `left`, the labels of the price axis get the room that they need. The times begin at
 * the y coordinate `below`, and the day names are under the times. If `hasHours` is false, there are no times. If
 * `hasAxis` is false, there are no labels of the price axis, no grid lines and no day names.
 */
export interface PlotLayout {
  left?: number;
  right: number;
  top: number;
  bottom: number;
  below: number;
  hasAxis: boolean;
  hasHours: boolean;
}
