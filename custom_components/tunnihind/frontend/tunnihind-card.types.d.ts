// The types of tunnihind-card.js: only the type checker reads them.

export interface Span {
  from: number;
  to: number;
}

/** What a price consists of, EUR/kWh. */
export interface Parts {
  market: number;
  network: number;
  fees: number;
  vat: number;
}

/** `price` is published, or the median of a forecast whose 10th and 90th percentile are `low` and `high`. */
export interface Period {
  start: number;
  end: number;
  price: number;
  low: number | null;
  high: number | null;
  /** From 0, very low, to 4, very high. */
  level: number | null;
  tint: number | null;
  parts: Parts | null;
}

/** A plan's windows, each of one or more pieces. `entity` is what is opened for it. */
export interface Plan {
  name: string;
  entity: string | null;
  windows: Span[][];
}

/** A local day of 23, 24 or 25 hours. */
export interface Day {
  start: number;
  end: number;
  /** From the longest to the shortest. */
  names: string[];
  hours: { ts: number; hour: number; text: string }[];
}

/** What is drawn. `pointed` is the start of a period. With `isAllPast` nothing is known of before the first period. */
export interface Scene {
  isAllPast: boolean;
  periods: Period[];
  selling: Period[];
  plans: Plan[];
  days: Day[];
  wording: import("./tunnihind-card").Wording;
  now: number;
  view: Span;
  pointed: number | null;
}

export interface Label {
  text: string;
  x: number;
  y: number;
  anchor?: string;
  kind?: string;
}

export type Range = "day" | "two_days" | "week";

export interface Config {
  entry_id?: string;
  entity?: string;
  title?: string;
  range?: Range;
  show_plans?: boolean;
  plans?: string[];
  show_selling?: boolean;
}

type Column = (number | null)[];

/** `PriceColumns` or `SellingColumns` of custom_components/tunnihind/card/columns.py. */
export interface Columns {
  start: number;
  step: number;
  price: Column;
  low: Column;
  high: Column;
  level?: Column;
  tint?: Column;
  market?: Column;
  charged?: Column;
  charges?: Record<string, number>[];
}

/** `CardContents` of custom_components/tunnihind/card/contents.py. An event has the fields that changed. */
export interface Contents {
  state: string;
  mode: "live" | "demo" | "rehearsal";
  clock_ahead_s: number;
  problems: string[];
  lost_since: number | null;
  stale_since: number | null;
  unit: "cents" | "euros";
  currency: string;
  prices: Columns | null;
  selling: Columns | null;
  now: { start: number; end: number } | null;
  plans: { name: string; entity_id: string | null; windows: [number, number][][] }[];
}

/** How Home Assistant refuses a command. */
export interface Failure {
  code?: string;
  message?: string;
}

/** What is used of Home Assistant's connection. */
export interface Connection {
  subscribeMessage(
    listener: (event: Partial<Contents>) => void,
    message: object,
    options: { resubscribe: boolean },
  ): Promise<() => Promise<void>>;
  sendMessagePromise(message: object): Promise<Partial<Contents>>;
  addEventListener(name: "ready", listener: () => void): void;
  removeEventListener(name: "ready", listener: () => void): void;
}

/** What a user chose in the profile. */
export interface Locale {
  language: string;
  number_format: string;
  time_format: string;
  time_zone: string;
}

/** What is used of Home Assistant's `hass`. */
export interface Hass {
  locale: Locale;
  language: string;
  config: { time_zone: string };
  connection: Connection;
}
