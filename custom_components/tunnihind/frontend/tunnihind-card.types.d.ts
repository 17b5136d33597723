// The types of tunnihind-card.js. Only the type checker reads these types.

import type { Period as Priced, Scene as Drawn, Span } from "./chart";

/** The parts of a price, EUR/kWh. */
export interface Parts {
  market: number;
  network: number;
  fees: number;
  vat: number;
}

export interface Period extends Priced {
  /** From 0 (very low) to 4 (very high), among the prices of the day. */
  level: number | null;
  /** What the price is called on the server's scale of the last 30 days. */
  word: string | null;
  parts: Parts | null;
}

/** A plan's windows. Each window has one or more pieces. A press on the plan opens `entity`. */
export interface Plan {
  name: string;
  entity: string | null;
  windows: Span[][];
}

/** `CardCourse` of custom_components/tunnihind/card/contents.py. */
export interface Course {
  runs: [number, number, string][];
  start: number;
  step: number;
  percent: number[];
}

/** `CardBattery` of custom_components/tunnihind/card/contents.py. */
export interface Battery {
  name: string;
  entity_id: string | null;
  reason: string | null;
  course: Course | null;
}

/** `isAllPast` is true if no prices are known before the first period. */
export interface Scene extends Drawn {
  isAllPast: boolean;
  periods: Period[];
  selling: Period[];
  plans: Plan[];
  batteries: Battery[];
  wording: import("./tunnihind-card").Wording;
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

/** `HouseholdColumns` or `PriceColumns` of custom_components/tunnihind/card/columns.py. */
export interface PriceColumns {
  start: number;
  step: number;
  price: Column;
  low: Column;
  high: Column;
  level?: Column;
  tint?: Column;
  has_scale?: boolean;
  market?: Column;
  charged?: Column;
  charges?: Record<string, number>[];
}

/** `CardContents` of custom_components/tunnihind/card/contents.py. An event has only the changed fields. */
export interface Contents {
  state: string;
  mode: "live" | "demo" | "rehearsal";
  clock_ahead_s: number;
  problems: string[];
  lost_since: number | null;
  stale_since: number | null;
  unit: "cents" | "euros";
  currency: string;
  prices: PriceColumns | null;
  selling: PriceColumns | null;
  now: { start: number; end: number } | null;
  plans: { name: string; entity_id: string | null; windows: [number, number][][] }[];
  batteries: Battery[];
  plans_elsewhere: { name: string; zone: string | null; entry: string }[];
  zone: string | null;
}

/** Home Assistant's refusal of a command. */
export interface Failure {
  code?: string;
  message?: string;
}

/** The parts of Home Assistant's connection that the card uses. */
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

/** The user's choices in the profile. */
export interface Locale {
  language: string;
  number_format: string;
  time_format: string;
  time_zone: string;
}

/** The parts of Home Assistant's `hass` that the card uses. */
export interface Hass {
  locale: Locale;
  language: string;
  localize(key: string): string;
  config: { time_zone: string };
  connection: Connection;
}
