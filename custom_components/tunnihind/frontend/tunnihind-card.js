// The price card of Tunnihind for Home Assistant's dashboards.
//
// custom_components/tunnihind/card sends the prices. Prices are in EUR/kWh. Instants are unix seconds. Except for
// `stale_since`, the instants that the card receives are on the entry's clock.

import { BAND_PX, bestStart, Chart, Clock, DAY_S, DAYS_PX, Drawing, HOUR_S, HOURS_PX, isPublished, middleWithin, periodAt, periodsInView, roundStep, setAttributes, setText, TINTS } from "./chart.js";

/** @import { Span } from "./chart.js" */
/** @import { PriceColumns, Config, Connection, Contents, Course, Failure, Hass, Locale, Period, Plan, Range, Scene } from "./tunnihind-card.types" */

// --- texts

const LANGUAGES = ["en", "et", "ru"];
/**
 * Each text in all languages, in the order of LANGUAGES. If a text has several plural forms, the number `n` chooses the
 * form.
 */
const TEXTS = {
  name: ["Tunnihind electricity price", "Tunnihinna elektrihind", "Tunnihind: цена на электричество"],
  description: [
    "What a kilowatt-hour costs you today, tomorrow and this week.",
    "Mida kilovatt-tund sulle täna, homme ja sel nädalal maksab.",
    "Сколько вы платите за киловатт-час сегодня, завтра и на этой неделе.",
  ],
  cents: ["c/kWh", "s/kWh", "цент/кВт·ч"],
  now: ["Now", "Praegu", "Сейчас"],
  today: ["Today", "Täna", "Сегодня"],
  tomorrow: ["Tomorrow", "Homme", "Завтра"],
  t0: ["Very cheap", "Väga odav", "Очень дёшево"],
  t1: ["Cheap", "Odav", "Дёшево"],
  t2: ["Normal", "Tavaline", "Обычная цена"],
  t3: ["Expensive", "Kallis", "Дорого"],
  t4: ["Very expensive", "Väga kallis", "Очень дорого"],
  negative: ["Below zero", "Alla nulli", "Ниже нуля"],
  free: ["Nearly free", "Peaaegu tasuta", "Почти бесплатно"],
  ofDay: ["{level} for the day", "{level} päeva kohta", "{level} по меркам дня"],
  level0: ["very low", "väga madal", "очень низкая"],
  level1: ["low", "madal", "низкая"],
  level2: ["about average", "umbes keskmine", "примерно средняя"],
  level3: ["high", "kõrge", "высокая"],
  level4: ["very high", "väga kõrge", "очень высокая"],
  forecast: ["Forecast", "Prognoos", "Прогноз"],
  likely: ["Forecast {band}", "Prognoos {band}", "Прогноз {band}"],
  legend: ["Forecast and likely range", "Prognoos ja tõenäoline vahemik", "Прогноз и вероятный диапазон"],
  market: ["Market price", "Börsihind", "Биржевая цена"],
  network: ["Network fee", "Võrgutasu", "Сетевая плата"],
  fees: ["Other fees", "Muud tasud", "Прочие сборы"],
  vat: ["VAT", "Käibemaks", "Налог с оборота"],
  selling: ["Selling price", "Müügihind", "Цена продажи"],
  day: ["Day", "Päev", "День"],
  days: ["{n} days", "{n} päeva", { one: "{n} день", few: "{n} дня", many: "{n} дней" }],
  week: ["Week", "Nädal", "Неделя"],
  earlier: ["Earlier prices", "Varasemad hinnad", "Более ранние цены"],
  later: ["Later prices", "Hilisemad hinnad", "Более поздние цены"],
  chart: [
    "Electricity prices. The left and right arrow keys move from price to price.",
    "Elektrihinnad. Vasak ja parem nooleklahv viivad ühelt hinnalt teisele.",
    "Цены на электричество. Стрелки влево и вправо переходят от цены к цене.",
  ],
  start: ["Best start: {when}, {less} instead of {more} {unit} (3 h)", "Parim algus: {when}, {more} asemel {less} {unit} (3 h)", "Лучше всего начать: {when}, {less} вместо {more} {unit} (3 ч)"],
  noWait: ["No need to wait", "Oodata ei ole vaja", "Ждать не нужно"],
  summary: [
    "{day}: lowest {least} at {leastAt}, highest {most} at {mostAt}, {unit}.",
    "{day}: madalaim {least} kell {leastAt}, kõrgeim {most} kell {mostAt}, {unit}.",
    "{day}: минимум {least} в {leastAt}, максимум {most} в {mostAt}, {unit}.",
  ],
  lowest: ["min", "min", "мин."],
  highest: ["max", "max", "макс."],
  none: ["No price for this time", "Selle aja hind ei ole teada", "Цена на это время неизвестна"],
  plans: ["Plans", "Plaanid", "Планы"],
  run: ["{action} until {until} ({percent})", "{action} kuni {until} ({percent})", "{action} до {until} ({percent})"],
  then: [", then ", ", siis ", ", затем "],
  more: ["+{n} more", "+{n} veel", "ещё {n}"],
  loading: ["Loading prices …", "Hindade laadimine …", "Цены загружаются …"],
  empty: [
    "No prices yet. They will appear here by themselves.",
    "Hindu veel ei ole. Hinnad ilmuvad siia ise.",
    "Цен пока нет. Они появятся здесь сами.",
  ],
  ended: ["The current price is not known.", "Praegune hind ei ole teada.", "Текущая цена неизвестна."],
  retrying: [
    "The Tunnihind server doesn't answer. Still trying.",
    "Tunnihinna server ei vasta. Ühendust proovitakse edasi.",
    "Сервер Tunnihind не отвечает. Попытки продолжаются.",
  ],
  stopped: [
    "Tunnihind is turned off or could not start.",
    "Tunnihind on välja lülitatud või ei saanud käivituda.",
    "Tunnihind отключён или не смог запуститься.",
  ],
  missing: [
    "This Tunnihind server isn't there any more. Choose another server in the card's settings.",
    "Seda Tunnihinna serverit enam ei ole. Vali kaardi seadetes teine server.",
    "Этого сервера Tunnihind больше нет. Выберите другой сервер в настройках карточки.",
  ],
  unauthorized: [
    "You may not see these prices. Ask an administrator.",
    "Sul ei ole õigust neid hindu näha. Pöördu haldaja poole.",
    "У вас нет прав на просмотр этих цен. Обратитесь к администратору.",
  ],
  restart: [
    "Waiting for Tunnihind to start. If this message doesn't go away, restart Home Assistant.",
    "Tunnihind alles käivitub. Kui see teade ei kao, taaskäivita Home Assistant.",
    "Tunnihind запускается. Если это сообщение не исчезнет, перезапустите Home Assistant.",
  ],
  failed: [
    "The prices can't be shown: {reason}",
    "Hindu ei saa näidata: {reason}",
    "Не удалось показать цены: {reason}",
  ],
  lost: [
    "No connection to the server since {time}. These are the last prices received.",
    "Ühendus serveriga katkes: {time}. Näed viimati saadud hindu.",
    "Связь с сервером пропала: {time}. Показаны последние полученные цены.",
  ],
  stale: [
    "The forecast has been out of date since {time}.",
    "Prognoos aegus: {time}. Uuemat prognoosi ei ole.",
    "Прогноз устарел: {time}. Нового прогноза нет.",
  ],
  late: [
    "Prices are late. Until they come, you see the forecast.",
    "Hinnad hilinevad. Seni näed prognoosi.",
    "Цены запаздывают. Пока показан прогноз.",
  ],
  elsewhere: ["The plan “{plan}” belongs elsewhere: {place}.", "Plaan „{plan}“ kuulub mujale: {place}.", "План «{plan}» не отсюда: {place}."],
  demo: ["Demo: simulated prices", "Demo: väljamõeldud hinnad", "Демо: цены выдуманы"],
  rehearsal: ["Rehearsal: prices of {day}", "Proov: möödunud päev {day}", "Репетиция: цены за {day}"],
  "form.entry_id": ["Server or zone, if there are several", "Server või hinnapiirkond, kui neid on mitu", "Сервер или ценовая зона, если их несколько"],
  "form.title": ["Title", "Pealkiri", "Заголовок"],
  "form.range": ["Days shown at first", "Alguses näidatavad päevad", "Дни, показанные сначала"],
  "form.show_plans": ["Show plans", "Näita plaane", "Показывать планы"],
  "form.plans": ["Only these plans", "Ainult need plaanid", "Только эти планы"],
  "form.show_selling": ["Show the selling price", "Näita müügihinda", "Показывать цену продажи"],
  "error.unknown": [
    "Unknown option “{field}”. The card knows: {known}.",
    "Tundmatu valik „{field}“. Kaart tunneb valikuid: {known}.",
    "Неизвестный параметр «{field}». Карточка знает: {known}.",
  ],
  "error.value": [
    "“{field}” has to be {known}.",
    "„{field}“ peab olema {known}.",
    "Значение «{field}» должно быть: {known}.",
  ],
};

/** @typedef {keyof typeof TEXTS} TextKey */

/**
 * @param {string | undefined} language
 * @returns {(key: TextKey, gaps?: Record<string, string>) => string}
 */
const textsIn = (language) => {
  const place = Math.max(0, LANGUAGES.indexOf(language?.split("-")[0] ?? ""));
  const plurals = new Intl.PluralRules(LANGUAGES[place]);
  return (key, gaps = {}) => {
    /** @type {string | Partial<Record<Intl.LDMLPluralRule, string>>} */
    const found = TEXTS[key][place];
    const text = typeof found === "string" ? found : found[plurals.select(Number(gaps.n))] ?? "";
    return text.replace(/\{(\w+)\}/g, (_, name) => gaps[name]);
  };
};

/** The language of the page, for use without `hass`. */
const pageLanguage = () => globalThis.document?.documentElement.lang;

// --- numbers and times

/** @type {Record<string, string | undefined>} a locale for each number format except `language`; undefined means the browser's */
const NUMBER_LANGUAGES = {
  comma_decimal: "en", decimal_comma: "de", space_comma: "fr", quote_decimal: "de-CH", none: "en", system: undefined,
};

/** Writes texts, numbers and instants in the language and formats of the user's profile. */
export class Wording extends Clock {
  /** @param {Locale} locale @param {string} serverZone @param {"cents" | "euros"} unit @param {string} currency */
  constructor(locale, serverZone, unit, currency) {
    const { language, time_zone: zone, number_format: numbers } = locale;
    const timeZone = zone === "server" ? serverZone : undefined;
    super(timeZone);
    this.say = textsIn(language);
    this.numberLanguage = numbers in NUMBER_LANGUAGES ? NUMBER_LANGUAGES[numbers] : language;
    this.isCents = unit === "cents";
    this.countries = new Intl.DisplayNames(language, { type: "region" });
    this.unit = this.isCents ? this.say("cents") : `${currency}/kWh`;
    const format = (/** @type {Intl.DateTimeFormatOptions} */ options) =>
      new Intl.DateTimeFormat(language, { timeZone, ...options });
    /** @type {Intl.DateTimeFormatOptions} */
    const hour = usesAmPm(locale) ? { hourCycle: "h12", hour: "numeric" } : { hourCycle: "h23", hour: "2-digit" };
    this.clockFormat = format({ ...hour, minute: "2-digit" });
    this.zonedFormat = format({ ...hour, minute: "2-digit", timeZoneName: "short" });
    this.hourFormat = hour.hourCycle === "h12" ? format(hour) : this.clockFormat;
    /** @type {Intl.DateTimeFormatOptions} */
    const day = { weekday: "short", day: "numeric" };
    this.dayFormats = [format({ ...day, month: "short" }), format(day), format({ weekday: "short" })];
    this.percents = new Intl.NumberFormat(this.numberLanguage, { style: "percent" });
    /** @type {Record<number, Intl.NumberFormat>} */
    this.numbers = {};
  }

  /** A price in the reader's unit. @param {number} eurKwh */
  amount(eurKwh) {
    return this.isCents ? eurKwh * 100 : eurKwh;
  }

  /** @param {number} amount in the reader's unit @param {number} decimals */
  amountText(amount, decimals) {
    const digits = { minimumFractionDigits: decimals, maximumFractionDigits: decimals };
    const options = /** @type {const} */ ({ ...digits, useGrouping: false, signDisplay: "negative" });
    const format = (this.numbers[decimals] ??= new Intl.NumberFormat(this.numberLanguage, options));
    return format.format(amount).replace("-", "\u2212");
  }

  /** @param {number} eurKwh @param {number} less the number of decimals to leave out */
  priceText(eurKwh, less = 0) {
    return this.amountText(this.amount(eurKwh), (this.isCents ? 2 : 4) - less);
  }

  /** The text of a forecast's interval, or "" for a published price. @param {Period} period */
  intervalText({ low, high }) {
    if (low === null || high === null) return "";
    const lower = this.priceText(low);
    return this.say("likely", { band: lower + (lower.startsWith("\u2212") ? " … " : "–") + this.priceText(high) });
  }

  /** The time of day. The time zone is added in the hour that comes twice in autumn. @param {number} ts */
  timeOfDay(ts) {
    return (this.isRepeated(ts) ? this.zonedFormat : this.clockFormat).format(ts * 1000);
  }

  /** @param {number} from @param {number} to */
  timeRange(from, to) {
    return `${this.timeOfDay(from)}–${this.timeOfDay(to)}`;
  }

  /** @override @param {number} ts */
  dayNames(ts) {
    return this.dayFormats.map((format) => format.format(ts * 1000));
  }

  /** @override @param {number} ts */
  hourText(ts) {
    return this.hourFormat.format(ts * 1000);
  }

  /** "Today", "tomorrow", or the day's name. @param {number} ts @param {number} now */
  dayText(ts, now) {
    const found = [0, 1].find((days) => this.midnight(ts) === this.midnight(now, days));
    return found === undefined ? this.dayFormats[0].format(ts * 1000) : this.say(found ? "tomorrow" : "today");
  }

  /** A span's start and end. If the end is on another day, adds that day. Midnight at the end belongs to the day before. @param {Span} span @param {number} now */
  timesOverDays({ from, to }, now) {
    const [first, last] = [from, to - 1].map((ts) => this.dayText(ts, now));
    return `${first} ${first === last ? this.timeRange(from, to) : `${this.timeOfDay(from)} – ${last} ${this.timeOfDay(to)}`}`;
  }

  /** @param {Plan} plan @param {Span} span @param {number} now */
  planTimes(plan, span, now) {
    return piecesIn(plan, span).map((piece) => this.timesOverDays(piece, now)).join(", ");
  }

  /** @param {number} ts @param {number} now */
  dayAndTime(ts, now) {
    const day = this.dayText(ts, now);
    return (day === this.say("today") ? "" : `${day} `) + this.timeOfDay(ts);
  }
}

/** @param {Locale} locale */
function usesAmPm({ time_format: chosen, language }) {
  const own = new Intl.DateTimeFormat(chosen === "system" ? undefined : language, { hour: "numeric" });
  return chosen === "12" || (chosen !== "24" && own.resolvedOptions().hour12);
}

// --- calculations

/** The periods with a known price. If the parts of a price are known, they add up to the price. @param {PriceColumns | null | undefined} columns @returns {Period[]} */
export function periodsOf(columns) {
  if (!columns) return [];
  const { start, step, price, low, high, level, tint, market, charged, charges, has_scale: hasScale } = columns;
  return price.flatMap((value, i) => {
    if (value === null) return [];
    const [share, fees] = [market?.[i], charges?.[charged?.[i] ?? -1]];
    let parts = null;
    if (typeof share === "number" && fees) {
      const [network, all] = [fees.network ?? 0, Object.values(fees).reduce((sum, fee) => sum + fee, 0)];
      parts = { market: share, network, fees: all - network, vat: value - share - all };
    }
    const from = start + i * step;
    const colour = tint?.[i] ?? null;
    // On any scale, a price from zero to below 1 c/kWh is nearly free.
    const word = !hasScale || colour === null ? null : value >= 0 && value < 0.01 ? "free" : TINTS[colour];
    return [{ start: from, end: from + step, price: value, low: low[i], high: high[i], level: level?.[i] ?? null, tint: colour, word, parts }];
  });
}

/** Rounds the parts of a sum to whole numbers that add up to the rounded sum. The largest fractions are rounded up. @param {number[]} parts */
function roundedParts(parts) {
  const fractions = parts.map((part) => part - Math.floor(part));
  const count = Math.round(fractions.reduce((sum, one) => sum + one, 0));
  const largest = [...parts.keys()].sort((one, other) => fractions[other] - fractions[one]).slice(0, count);
  return parts.map((part, i) => Math.floor(part) + Number(largest.includes(i)));
}

/**
 * The cheapest and the most expensive published period. If no period is published, forecasts are compared. If prices are
 * equal, the first period counts.
 * @param {Period[]} periods @returns {[Period, Period] | null} null if no two prices differ
 */
export function extremes(periods) {
  const published = periods.filter(isPublished);
  const compared = published.length ? published : periods;
  if (!compared.length) return null;
  const least = compared.reduce((best, period) => (period.price < best.price ? period : best));
  const most = compared.reduce((best, period) => (period.price > best.price ? period : best));
  return least.price === most.price ? null : [least, most];
}

const [QUARTER_S, RUN_QUARTERS] = [HOUR_S / 4, 12];

/**
 * Compares an immediate start of a device that runs three hours with its cheapest later start, as `core/start.py` does.
 * If a needed price is unknown, returns null.
 * @param {Period[]} periods @param {number} now
 */
export function compareStarts(periods, now) {
  const present = now - (now % QUARTER_S);
  const end = Math.ceil((present + QUARTER_S + DAY_S) / HOUR_S) * HOUR_S;
  const prices = Array.from({ length: (end - present) / QUARTER_S }, (_, i) => periodAt(periods, present + i * QUARTER_S)?.price ?? NaN);
  // Without rounding, equally cheap starts would differ by the errors of binary fractions.
  const means = prices.slice(RUN_QUARTERS - 1).map((_, i) => Number((prices.slice(i, i + RUN_QUARTERS).reduce((sum, price) => sum + price) / RUN_QUARTERS).toFixed(9)));
  const later = Math.min(...means.slice(1).filter(Number.isFinite));
  const passed = Math.floor((now - present) / 60) / 15;
  const atOnce = means[0] + (passed && (means[1] - means[0]) * passed);
  return Number.isFinite(atOnce + later) ? { start: present + means.indexOf(later, 1) * QUARTER_S, later, atOnce, best: bestStart(atOnce, later, 0.01) } : null;
}

/** A plan's windows as spans. Windows that touch, at midnight for example, are joined. @param {[number, number][][]} windows */
function joinedWindows(windows) {
  /** @type {Span[][]} */
  const joined = [];
  for (const pieces of windows) {
    const spans = pieces.map(([from, to]) => ({ from, to }));
    const before = joined.at(-1);
    const last = before?.at(-1);
    if (before && last?.to === spans[0]?.from) before.splice(-1, 1, { from: last.from, to: spans[0].to }, ...spans.slice(1));
    else joined.push(spans);
  }
  return joined;
}

/** A plan's pieces that overlap a span. @param {Plan} plan @param {Span} span */
const piecesIn = ({ windows }, { from, to }) => windows.flat().filter((piece) => piece.to > from && piece.from < to);

/**
 * The plans with a piece in view: first plans with a running piece, then plans by the start of their next piece, then
 * plans with only past pieces by the end of their last piece, the latest first. Pieces outside the view don't count.
 * @param {Plan[]} plans @param {Span} view @param {number} now
 */
export function plansInView(plans, view, now) {
  const rank = (/** @type {Plan} */ plan) => {
    const pieces = piecesIn(plan, view);
    const next = pieces.find(({ to }) => to > now);
    return next ? Math.max(next.from - now, 0) : 2 * now - pieces[pieces.length - 1].to;
  };
  return plans.filter((plan) => piecesIn(plan, view).length).sort((one, other) => rank(one) - rank(other));
}

// --- drawing

const [LANE_PX, STRIP_PX, MARK_PX] = [19, 15, 20];
const ACTIONS = ["charge", "store_sun", "hold", "discharge", "sell"];
const [PX_PER_TICK, MOST_TICKS] = [30, 7];
/** The usual share of the picture for plans, and the least height for prices if plans need a larger share. */
const [PLANS_SHARE, LEAST_PLOT_PX] = [0.36, 40];
/** Bars of at least this width have gaps and round ends. */
const WIDE_BAR_PX = 5;
/** Below the first height, a picture has no axes. Below the second height, it has no times. */
const [LOW_PX, MIDDLE_PX] = [76, 130];

/** Gives a place as many buttons as needed. @param {Element} place @param {number} count */
function buttonsIn(place, count) {
  while (place.children.length > count) place.lastElementChild?.remove();
  while (place.children.length < count) place.append(document.createElement("button"));
  return /** @type {HTMLElement[]} */ ([...place.children]);
}

class CardDrawing extends Drawing {
  /** @param {HTMLElement} place @param {HTMLElement} lanes @param {(plan?: Plan) => void} pick opens a plan, or without a plan the list of the plans in view @param {() => void} fit makes room for the picture, and measures it */
  constructor(place, lanes, pick, fit) {
    super(place, { behind: ["ahead"], before: ["selling", ...ACTIONS, "stored", "links", "strips", "dots"] });
    this.lanes = lanes;
    this.pick = pick;
    this.fit = fit;
    this.isLow = false;
    this.lanesTop = 0;
    this.wording = /** @type {Wording} */ (/** @type {unknown} */ (null));
  }

  /** @override @param {number} eurKwh */
  amount(eurKwh) {
    return this.wording.amount(eurKwh);
  }

  /** @override @param {number} amount @param {number} decimals */
  amountText(amount, decimals) {
    return this.wording.amountText(amount, decimals);
  }

  /** @param {Scene} scene */
  draw(scene) {
    this.fit();
    const { width, height } = this.size;
    if (!width || !height) return;
    this.wording = scene.wording;
    const isLow = (this.isLow = height < LOW_PX);
    const hasHours = height >= MIDDLE_PX;
    const top = isLow ? 2 : BAND_PX;
    const below = height - (isLow ? 2 : DAYS_PX + (hasHours ? HOURS_PX : 0));
    const plans = plansInView(scene.plans, scene.view, scene.now);
    const running = plans.filter((plan) => piecesIn(plan, { from: scene.now, to: scene.now + 1 }).length).length;
    const courses = hasHours ? scene.batteries.flatMap((battery) => battery.course ?? []) : [];
    const coursesPx = courses.length * LANE_PX;
    const [usual, most] = [hasHours ? height * PLANS_SHARE : 0, below - coursesPx - top - LEAST_PLOT_PX].map((room) => Math.floor(room / LANE_PX));
    const isMore = (/** @type {number} */ room) => (room < plans.length ? 1 : 0);
    const room = Math.max(0, usual, Math.min(1, most, plans.length), Math.min(running + isMore(running), most));
    const lanes = plans.slice(0, Math.max(room - isMore(room), Math.min(1, room, running)));
    const hasMore = lanes.length < Math.min(room, plans.length);
    this.lanesTop = below - (lanes.length + Number(hasMore)) * LANE_PX;
    const bottom = this.lanesTop - coursesPx;
    const sold = periodsInView(scene.selling, scene.view);
    const seen = this.drawPrices(scene, { right: width - (isLow ? 0 : 4), top, bottom, below, hasAxis: !isLow, hasHours }, sold);
    this.setPath("selling", this.stepPath(sold));
    this.labelPresentAndForecast(scene, seen);
    this.drawBatteries(courses);
    this.drawPlans(lanes);
    this.placeButtons(lanes, plans.length - lanes.length, hasMore, scene);
    this.drawExtremes(isLow ? null : extremes(seen));
  }

  /**
   * Leaves room above the prices for the marks of the extremes, unless the picture is low. Leaves a little room below
   * negative prices.
   * @override @param {number} least @param {number} most @param {number} height
   */
  axis(least, most, height) {
    const below = least < 0 ? 4 : 0;
    const highest = most || this.amount(0.01);
    const pxPerAmount = Math.max(height - (this.isLow ? 0 : MARK_PX) - below, 10) / (highest - least);
    const lowest = least - below / pxPerAmount;
    return { least: lowest, most: lowest + height / pxPerAmount, step: roundStep(height / pxPerAmount, Math.max(1, Math.min(height / PX_PER_TICK, MOST_TICKS))) };
  }

  /** @override @param {number} left @param {number} end @param {number} tip */
  barPath(left, end, tip) {
    const { zeroY } = this;
    const wide = end - left;
    const right = left + Math.max(1, wide - (wide >= 3 * WIDE_BAR_PX ? 2 : wide >= WIDE_BAR_PX ? 1 : 0));
    const r = wide >= WIDE_BAR_PX ? Math.min(3, (right - left) / 3, Math.abs(tip - zeroY)) * Math.sign(zeroY - tip) : 0;
    return r
      ? `M${left} ${zeroY}V${tip + r}Q${left} ${tip} ${left + Math.abs(r)} ${tip}H${right - Math.abs(r)}Q${right} ${tip} ${right} ${tip + r}V${zeroY}Z`
      : super.barPath(left, right, tip);
  }

  /** Labels the present and the forecast, and shades the forecast. @param {Scene} scene @param {Period[]} seen */
  labelPresentAndForecast({ now, view }, seen) {
    const { left, right } = this.plot;
    const forecast = seen.filter((period) => !isPublished(period));
    const [first, last] = [forecast[0], forecast.at(-1)];
    this.setPath("ahead", first && last ? this.fullHeightPath(first.start, last.end) : "");
    /** @param {"now" | "forecast"} kind @param {number} from @param {boolean} [isCentred] */
    const zone = (kind, from, isCentred) => {
      const text = this.wording.say(kind);
      const width = this.widthOf(text);
      return { text, kind, width, at: isCentred ? middleWithin(from, width, left, right) : from + width / 2 + 4 };
    };
    const labels = now >= view.from && now < view.to ? [zone("now", this.x(now) + 0.5, true)] : [];
    if (first) labels.push(zone("forecast", Math.max(left, this.x(first.start))));
    this.drawLabelsAbove(labels);
  }

  /** Draws the actions and the states of charge of batteries. @param {Course[]} courses */
  drawBatteries(courses) {
    const paths = Object.fromEntries([...ACTIONS, "stored"].map((name) => [name, ""]));
    courses.forEach(({ runs, start, step, percent }, lane) => {
      const y = this.plot.bottom + lane * LANE_PX + 2;
      for (const [from, to, action] of runs) paths[action] += this.boxPath(from, y, to, y + STRIP_PX);
      paths.stored += percent.map((one, i) => `${i ? "L" : "M"}${this.x(Math.max(runs[0][0], start + i * step))} ${y + STRIP_PX * (1 - one / 100)}`).join("");
    });
    for (const name in paths) this.setPath(name, paths[name]);
  }

  /** Draws each plan on a line of its own. @param {Plan[]} plans */
  drawPlans(plans) {
    const { left, right } = this.plot;
    let [strips, links] = ["", ""];
    const names = plans.flatMap(({ name, windows }, lane) => {
      const y = this.lanesTop + lane * LANE_PX + 3;
      /** @type {Span[]} */
      const seen = [];
      for (const pieces of windows) {
        strips += pieces.map(({ from, to }) => this.boxPath(from, y, to, y + STRIP_PX)).join("");
        links += `M${this.x(pieces[0].from)} ${y + STRIP_PX / 2}H${this.x(pieces[pieces.length - 1].to)}`;
        const drawn = pieces.map(({ from, to }) => ({ from: Math.max(left, this.x(from)), to: Math.min(right, this.x(to)) }));
        seen.push(...drawn.filter(({ from, to }) => from < to));
      }
      const place = this.namePosition(name, seen);
      return place ? [{ ...place, y: y + 11.5, anchor: "start" }] : [];
    });
    this.setPath("strips", strips);
    this.setPath("links", links);
    this.showLabels("names", names);
  }

  /**
   * Puts a button on each plan's line. If `hasMore`, one more button shows the number of plans without a line.
   * @param {Plan[]} plans @param {number} more @param {boolean} hasMore @param {Scene} scene
   */
  placeButtons(plans, more, hasMore, { view, now }) {
    const { plot, wording } = this;
    const rows = hasMore ? [...plans, undefined] : plans;
    const others = wording.say("more", { n: String(more) });
    // If one of several plans has the only line, its button opens the list of the plans in view.
    const opensList = more && !hasMore;
    buttonsIn(this.lanes, rows.length).forEach((button, i) => {
      const plan = rows[i];
      const label = plan ? `${plan.name}: ${wording.planTimes(plan, view, now)}${opensList ? `, ${others}` : ""}` : others;
      setAttributes(button, { title: label, "aria-label": label, style: `top:${this.lanesTop + 1 + i * LANE_PX}px;padding-left:${plot.left + 4}px` });
      setText(button, plan ? "" : others);
      button.onclick = () => this.pick(opensList ? undefined : plan);
    });
  }

  /** Finds a place for a plan's name in or beside a strip, and shortens the name to fit. @param {string} name @param {Span[]} strips in pixels */
  namePosition(name, strips) {
    const { left, right } = this.plot;
    const after = strips.map(({ to }, i) => ({ from: to, to: strips[i + 1]?.from ?? right }));
    const room = strips.length ? [...strips, ...after.reverse(), { from: left, to: strips[0].from }] : [];
    for (let text = name; text.length > 1; text = `${text.slice(0, -2).trimEnd()}…`) {
      const width = this.widthOf(text) + 10;
      const found = room.find(({ from, to }) => to - from >= width);
      if (found) return { text, x: found === room.at(-1) ? found.to - width + 5 : found.from + 5 };
    }
    return null;
  }

  /**
   * Marks the cheapest and the most expensive period in view, as found by `extremes`. If their labels would overlap,
   * only the most expensive period has a label.
   * @param {[Period, Period] | null} found
   */
  drawExtremes(found) {
    const { left, right, top } = this.plot;
    const marks = (found ?? []).map((period, i) => {
      const text = `${this.wording.say(i ? "highest" : "lowest")} ${this.wording.priceText(period.price, 1)}`;
      const middle = this.x((period.start + period.end) / 2);
      const width = this.widthOf(text);
      const y = Math.max(this.y(Math.max(0, period.price)) - 7, top + 11);
      return { text, width, at: middleWithin(middle, width + 6, left, right), x: middle, tip: this.y(period.price), y };
    });
    const [low, high] = marks;
    const doMeet = low && Math.abs(high.at - low.at) < (high.width + low.width) / 2 + 6 && Math.abs(high.y - low.y) < 15;
    this.setPath("dots", marks.map(({ x, tip }) => `M${x - 3} ${tip}a3 3 0 1 0 6 0a3 3 0 1 0 -6 0Z`).join(""));
    this.showLabels("marks", (doMeet ? [high] : marks).map(({ text, at, y }) => ({ text, x: at, y })));
  }
}

// --- moving

/** The card can request the prices of this many past days. */
const PAST_DAYS = 13;
const RANGE_DAYS = { day: 1, two_days: 2, week: 7 };
const RANGES = /** @type {Range[]} */ (Object.keys(RANGE_DAYS));

/** The name of the range of `days` days from today on. @param {number} days @param {Wording["say"]} say */
const rangeName = (days, say) => (days === 1 ? say("day") : days === RANGE_DAYS.week ? say("week") : say("days", { n: String(days) }));

/**
 * Shows a range of days from today on, or the view that the reader has chosen.
 * @extends {Chart<Scene, CardDrawing>}
 */
class CardChart extends Chart {
  /** @type {Range | null} null if the reader moved or zoomed the view */
  range = RANGES[1];

  /** Shows new data. Keeps a view that the reader has chosen. @param {Omit<Scene, "now" | "view" | "pointedStart" | "days">} data */
  show(data) {
    this.scene = { ...data, now: 0, view: this.view, pointedStart: periodAt(data.periods, this.scene?.pointedStart ?? 0)?.start ?? null, days: [] };
    this.updateNow();
  }

  /**
   * Updates the present instant, the days and the limits of the view. If the chart shows a range, the view begins at the
   * start of today.
   */
  updateNow() {
    const { scene } = this;
    if (!scene) return;
    const { periods, wording } = scene;
    const now = (scene.now = this.clock());
    const [first, last] = [periods[0]?.start ?? now, periods.at(-1)?.end ?? now];
    const from = wording.midnight(Math.min(first, now), first < wording.midnight(now) || scene.isAllPast ? 0 : -PAST_DAYS);
    const to = Math.max(wording.midnight(last - 1, 1), wording.midnight(now, 2));
    if (!scene.days.length || from !== this.viewLimits.from || to !== this.viewLimits.to) scene.days = wording.daysOf(from, to);
    this.viewLimits = { from, to };
    this.setView(this.range ? { from: wording.midnight(now), to: wording.midnight(now, this.daysOf(this.range)) } : scene.view);
  }

  /** The number of days in a range, or fewer if the chart ends earlier. @param {Range} range */
  daysOf(range) {
    return Math.min(RANGE_DAYS[range], this.scene?.days.filter(({ end }) => end > this.clock()).length ?? 0);
  }

  /** @param {Range} [range] */
  chooseRange(range = RANGES[1]) {
    this.range = range;
    this.updateNow();
  }

  /** @override */
  showDefaultView() {
    this.chooseRange();
  }

  /** @override */
  beforeReaderMoves() {
    this.range = null;
  }

  /** @override */
  onStepBeforeStart() {
    this.panByShare(-1 / 2);
  }
}

// --- the card

const STYLE = `
:host {
  display: block; height: 100%; container-type: inline-size;
  --ink: var(--primary-text-color); --soft: var(--secondary-text-color);
  --paper: var(--ha-card-background, var(--card-background-color)); --accent: var(--primary-color);
  --sold: var(--energy-grid-return-color, #8353d1);
  /* With some of the text's colour, these colours stand out on light and dark cards. */
  --t0: color-mix(in oklab, var(--success-color) 82%, var(--ink));
  --t1: color-mix(in oklab, var(--success-color) 50%, var(--soft));
  --t2: color-mix(in srgb, var(--soft) 86%, transparent);
  --t3: color-mix(in oklab, var(--warning-color) 72%, var(--ink));
  --t4: color-mix(in oklab, var(--error-color) 92%, var(--ink));
  --negative: color-mix(in oklab, var(--info-color, #2f6fde) 80%, var(--ink));
  --line: color-mix(in srgb, var(--ink) 12%, transparent);
  --median: color-mix(in oklab, var(--accent) 80%, var(--ink));
  --likely: color-mix(in srgb, var(--accent) 24%, transparent);
}
[hidden] { display: none !important; }
ha-card { height: 100%; box-sizing: border-box; display: flex; flex-direction: column; overflow: hidden; position: relative;
  padding: 12px 16px 8px; gap: 2px; color: var(--ink); font-size: 14px; line-height: 20px; }
h2 { margin: 0 0 2px; font: inherit; font-size: var(--ha-card-header-font-size, 24px); line-height: 1.3; overflow-wrap: anywhere; }
ha-card > * { flex: none; }
.readout { display: flex; flex-wrap: wrap; align-items: center; justify-content: space-between; gap: 2px 8px; }
.when { flex: 1 1 160px; min-width: 0; } .when, .brief h2 { white-space: nowrap; overflow: hidden; text-overflow: ellipsis; }
.mode { order: 1; font-size: 12px; line-height: 18px; padding: 0 8px; border-radius: 9px; border: 1px dashed var(--soft); }
.readout, text { font-variant-numeric: tabular-nums; }
.when, .unit, .parts, .legend, .message, button { color: var(--soft); }
.price, .parts, .legend, .foot { display: flex; flex-wrap: wrap; align-items: baseline; gap: 0 12px; }
.readout > :is(.price, .parts, .advice, .batteries) { order: 2; flex-basis: 100%; column-gap: 8px; }
.amount, .unit { white-space: nowrap; } .price .level { align-self: last baseline; line-height: 15px; }
.amount { font-size: 32px; line-height: 38px; }
.level, .legend span { display: inline-flex; align-items: center; gap: 6px; }
.level::before { content: ""; width: 10px; height: 10px; border-radius: 50%; background: var(--tint, var(--soft)); forced-color-adjust: none; }
.parts, .legend { margin: 0; font-size: 12px; line-height: 18px; min-height: 18px; }
.parts div { display: flex; gap: 4px; } dd { margin: 0; color: var(--ink); } dt { order: 1; }
.note { margin: 2px 0; padding: 6px 10px; border-radius: 8px; font-size: 13px; line-height: 18px;
  background: color-mix(in srgb, var(--t3) 16%, transparent); border-inline-start: 3px solid var(--t3); }
.field { flex: 1 1 250px; min-height: 0; position: relative; touch-action: pan-y; user-select: none; direction: ltr; margin: 0 -4px; }
.chart { height: 100%; cursor: crosshair; border-radius: 6px; }
.chart:focus-visible, button:focus-visible { outline: 2px solid var(--accent); outline-offset: -2px; }
.chart svg { position: absolute; width: 100%; height: 100%; overflow: visible; }
text { font-size: 12px; fill: var(--soft); }
path { fill: none; }
.grid, .midnights { stroke: var(--line); } .zero { stroke: var(--t2); } .pointed { fill: var(--ink); opacity: .2; }
.ahead { fill: color-mix(in srgb, var(--accent) 5%, transparent); }
.bar { fill: var(--tint, var(--soft)); } .past { opacity: .5; } .likely { fill: var(--likely); }
.median { stroke: var(--median); stroke-width: 2; }
.selling { stroke: var(--sold); stroke-width: 1.5; stroke-dasharray: 5 3; }
.present { stroke: var(--ink); stroke-width: 1.5; } .dots { fill: var(--ink); stroke: var(--paper); stroke-width: 1.5; }
.strips { fill: color-mix(in srgb, var(--accent) 34%, transparent); stroke: var(--accent); stroke-linejoin: round; }
.charge { fill: var(--energy-battery-in-color, #f06292); } .discharge { fill: var(--energy-battery-out-color, #4db6ac); }
.store_sun { fill: var(--energy-solar-color, #ff9800); } .sell { fill: var(--sold); } .hold { fill: var(--line); }
.stored { stroke: var(--ink); stroke-width: 1.5; }
.links { stroke: var(--accent); stroke-dasharray: 2 2; }
.days text, .names text, .marks text, text.now { fill: var(--ink); }
text.now, .marks text { font-weight: 600; }
text.forecast { fill: color-mix(in oklab, var(--accent) 65%, var(--ink)); }
.marks text, .names text { paint-order: stroke; stroke: var(--paper); stroke-width: 4px; stroke-linejoin: round; }
.foot { align-items: center; min-height: 32px; }
@container (max-width: 240px) { .earlier, .later { display: none; } }
@container (min-width: 275px) { .readout > .price { flex-wrap: nowrap; } }
@container (max-width: 274px) { :not(.compact) > .readout .level { flex-basis: 100%; } }
.legend i { width: 18px; height: 10px; background: linear-gradient(var(--median) 0 0) center / 100% 2px no-repeat var(--likely); }
.legend .sold { background: repeating-linear-gradient(90deg, var(--sold) 0 5px, transparent 5px 8px) center / 100% 2px no-repeat; }
.moves { display: flex; margin-inline-start: auto; }
button { font: inherit; font-size: 13px; background: none; border: 0; border-radius: 16px; height: 32px; min-width: 32px; cursor: pointer; }
button svg { width: 20px; vertical-align: middle; }
button svg:dir(rtl) { transform: scaleX(-1); }
button path { fill: currentColor; }
.lanes button { position: absolute; width: 100%; height: 19px; border-radius: 4px; font-size: 12px; line-height: 19px; text-align: start; color: var(--median); }
dialog { width: min(26em, 85vw); box-sizing: border-box; padding: 8px; border: 0; border-radius: 12px; color: var(--ink); background: var(--card-background-color); }
dialog::backdrop { background: #0008; }
dialog button, .batteries button { display: block; width: 100%; height: auto; padding: 8px; border-radius: 8px; text-align: start; color: var(--ink); }
.batteries button { height: 24px; padding: 0; overflow: hidden; }
@container (max-width: 500px) { .batteries button { height: 40px; } }
dialog small { display: block; color: var(--soft); }
button:hover { background: var(--line); }
button[aria-pressed="true"] { color: var(--ink); font-weight: 600; background: color-mix(in srgb, var(--accent) 16%, transparent); }
button:disabled { opacity: .38; cursor: default; background: none; }
.message { flex: 1; display: grid; place-content: center; justify-items: center; gap: 8px; text-align: center; padding: 12px; }
.message svg { width: 40px; } .message path { fill: var(--t2); }
.summary { position: absolute; top: 0; width: 1px; height: 1px; margin: 0; overflow: hidden; clip-path: inset(50%); }
.brief .note { overflow: hidden; display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 2; padding-block: 0; }
.brief .legend, .compact .parts, .tiny :is(.advice, .batteries), .compact .foot, .tiny .when, .tiny h2, .compact .mode:not([hidden]) + .when, .batteries:empty { display: none; }
.compact { padding: 8px 12px; } .compact .readout .price { order: 0; flex: initial; } .compact .amount { font-size: 26px; line-height: 30px; }
${TINTS.slice(0, -1).map((tint) => `.${tint} { --tint: var(--${tint}); }`).join(" ")}
@media (forced-colors: active) {
  :host { --ink: CanvasText; --soft: CanvasText; --paper: Canvas; --accent: Highlight; --line: GrayText; --sold: LinkText;
    --t0: GrayText; --t1: GrayText; --t3: Highlight; --t4: Highlight; }
}
`;

const icon = (/** @type {string} */ path) => `<svg viewBox="0 0 24 24" aria-hidden="true"><path d="${path}"/></svg>`;
const CARD_HTML = `<style>${STYLE}</style><ha-card>
<h2 class="title"></h2>
<div class="readout"><div class="mode"></div><div class="when"></div>
<div class="price"><span class="amount"></span><span class="unit"></span><span class="level"></span></div>
<dl class="parts"></dl><div class="advice"></div><div class="batteries"></div></div>
<div class="note" role="status"></div>
<div class="field"><div class="chart" role="slider" tabindex="0" aria-describedby="summary"></div><div class="lanes"></div></div>
<div class="foot"><div class="legend"></div><div class="moves">
<button class="earlier">${icon("M15.4 16.6 10.8 12l4.6-4.6L14 6l-6 6 6 6z")}</button>
<button class="day"></button><button class="two_days"></button><button class="week"></button>
<button class="later">${icon("M8.6 16.6 13.2 12 8.6 7.4 10 6l6 6-6 6z")}</button></div></div>
<div class="message" role="status">${icon("M11 15H6l7-14v8h5l-7 14z")}<span class="said"></span></div>
<p class="summary" id="summary"></p><dialog class="list"></dialog></ha-card>`;

/** The card's classes, from large to small. The card has the first that fits. `least` is the chart's least height. */
const SIZES = [{ name: "", least: 100 }, { name: "brief", least: 100 }, { name: "brief compact", least: 60 }, { name: "brief compact tiny", least: 0 }];
const [RETRY_MS, TICK_S] = [15_000, 30];
/**
 * This device's clock counts as wrong if its time plus `clock_ahead_s` is at least this many seconds outside the
 * entry's current period.
 */
const CLOCK_TOLERANCE_S = 60;
/** Prices are shown in whole hundredths of a cent. */
const SHOWN_PER_EURO = 10_000;
/** @type {Record<string, TextKey>} the keys of the texts for refusals and states whose names are not keys of TEXTS */
const MESSAGE_KEYS = { not_found: "missing", removed: "missing", unknown_command: "restart", starting: "loading", no_price: "empty", ready: "empty" };
const [TEXT, YES_NO, LIST] = [["\"…\""], [true, false], ["[…]"]];
/** @type {Record<string, unknown[]>} the options and their valid values */
const OPTIONS = { entry_id: TEXT, entity: TEXT, title: TEXT, range: RANGES, show_plans: YES_NO, plans: LIST, show_selling: YES_NO };
/** The keys that Home Assistant and card-mod add to a card's configuration. */
const FOREIGN_OPTIONS = ["type", "view_layout", "layout_options", "grid_options", "visibility", "disabled", "card_mod"];

/** If an option is unknown or has a wrong value, throws an error that names the option. @param {Record<string, unknown>} config @param {ReturnType<typeof textsIn>} say */
export function checkConfig(config, say) {
  for (const [field, value] of Object.entries(config)) {
    if (FOREIGN_OPTIONS.includes(field)) continue;
    const allowed = OPTIONS[field];
    if (!allowed) throw new Error(say("error.unknown", { field, known: Object.keys(OPTIONS).join(", ") }));
    const isRight = allowed === TEXT ? typeof value === "string" : allowed === LIST ? Array.isArray(value) : allowed.includes(value);
    if (!isRight && (value ?? "") !== "") throw new Error(say("error.value", { field, known: allowed.join(", ") }));
  }
}

/** @param {typeof HTMLElement} Base */
const cardClass = (Base) => class extends Base {
  constructor() {
    super();
    /** @type {Config | null} */
    this.config = null;
    /** @type {Hass | null} */
    this.homeAssistant = null;
    /** @type {Wording | null} */
    this.wording = null;
    /** @type {Partial<Contents>} */
    this.contents = {};
    /** @type {Partial<Contents>} */
    this.past = {};
    /** Were past prices requested since new prices came, and has that request ended? */
    this.isPastAsked = this.isPastAnswered = false;
    /** @type {Failure | null} */
    this.failure = null;
    /** @type {Connection | null} */
    this.connection = null;
    /** @type {Promise<() => Promise<void>> | null} */
    this.subscription = null;
    this.retry = 0;
    /** The seconds by which the entry's clock is ahead of this device's clock. */
    this.aheadS = 0;
    this.rows = 0;
    this.timer = 0;
    /** @type {unknown[]} the values from which the readout was last made */
    this.readoutValues = [];
    /** Whether no text has changed since `fit`. */
    this.isFitted = false;
    const root = this.attachShadow({ mode: "open" });
    root.innerHTML = CARD_HTML;
    /** @type {Record<string, HTMLElement>} */
    this.elements = Object.fromEntries([...root.querySelectorAll("[class], ha-card")].map((part) => [part.className || "card", /** @type {HTMLElement} */ (part)]));
    const drawing = new CardDrawing(this.elements.chart, this.elements.lanes, (plan) => (plan ? this.open(plan.entity) : this.showPlanList()), () => this.isFitted || this.fit());
    this.chart = new CardChart(this.elements.field, drawing, () => Date.now() / 1000 + this.aheadS, () => this.showReadout());
    for (const range of RANGES) this.elements[range].onclick = () => this.chart.chooseRange(range);
    this.elements.list.onclick = () => /** @type {HTMLDialogElement} */ (this.elements.list).close();
    this.elements.earlier.onclick = () => this.chart.panByShare(-1 / 2);
    this.elements.later.onclick = () => this.chart.panByShare(1 / 2);
    this.resized = new ResizeObserver(() => {
      const { size } = drawing;
      this.fit();
      if (size.width !== drawing.size.width || size.height !== drawing.size.height) this.chart.redraw();
    });
    this.onReady = () => {
      // After a reconnection, `unsubscribe` could end another subscription with this number.
      this.subscription = null;
      this.subscribe();
    };
    this.onVisible = () => !document.hidden && this.tick();
  }

  /** @param {Config} config */
  setConfig(config) {
    checkConfig({ ...config }, textsIn(this.homeAssistant?.language ?? pageLanguage()));
    const [before, asked] = [this.config, this.command("subscribe")];
    this.config = { ...config };
    if (before?.range !== config.range) this.chart.range = config.range || RANGES[1];
    if (JSON.stringify(asked) !== JSON.stringify(this.command("subscribe"))) {
      this.contents = this.past = {};
      this.subscribe();
    }
    this.showAll();
  }

  /** Home Assistant sets this property at each change of any state. Few changes matter to the card. */
  set hass(/** @type {Hass} */ hass) {
    const before = this.homeAssistant;
    this.homeAssistant = hass;
    if (before?.connection !== hass.connection) this.subscribe();
    if (before?.locale === hass.locale && before?.localize === hass.localize && before?.config.time_zone === hass.config.time_zone) return;
    this.wording = null;
    this.showAll();
  }

  getCardSize() {
    return this.getGridOptions().rows + 2;
  }

  getGridOptions() {
    const { config, contents, elements } = this;
    const more = [config?.title, config?.show_selling && contents.selling, elements.note.textContent, elements.batteries.textContent].filter((one) => one);
    return { columns: 12, rows: 6 + more.length, min_columns: 6, min_rows: 2 };
  }

  static getConfigForm() {
    const say = textsIn(pageLanguage());
    const ranges = RANGES.map((value) => ({ value, label: rangeName(RANGE_DAYS[value], say) }));
    const { entities = {} } = /** @type {any} */ (document.querySelector("home-assistant"))?.hass ?? {};
    const plans = Object.values(entities).filter(({ platform, translation_key: key }) => platform === "tunnihind" && /^(dear_)?window$|^action$/.test(key)).map(({ entity_id: id }) => id);
    return {
      schema: [
        { name: "entry_id", selector: { config_entry: { integration: "tunnihind" } } },
        { name: "title", selector: { text: {} } },
        { name: "range", selector: { select: { mode: "dropdown", options: ranges } } },
        { name: "show_plans", default: true, selector: { boolean: {} } },
        { name: "plans", selector: { entity: { multiple: true, include_entities: plans } } },
        { name: "show_selling", selector: { boolean: {} } },
      ],
      computeLabel: (/** @type {{name: string}} */ { name }) => say(/** @type {TextKey} */ (`form.${name}`)),
      assertConfig: (/** @type {Record<string, unknown>} */ config) => checkConfig(config, say),
    };
  }

  connectedCallback() {
    this.resized.observe(this);
    this.resized.observe(this.elements.chart);
    document.addEventListener("visibilitychange", this.onVisible);
    this.subscribe();
    this.tick();
  }

  disconnectedCallback() {
    this.resized.disconnect();
    document.removeEventListener("visibilitychange", this.onVisible);
    clearTimeout(this.timer);
    this.unsubscribe();
  }

  /** Begins a new subscription to the card's contents. */
  subscribe() {
    this.unsubscribe();
    const { homeAssistant } = this;
    if (!this.isConnected || !homeAssistant || !this.config) return;
    this.connection = homeAssistant.connection;
    this.connection.addEventListener("ready", this.onReady);
    const asked = this.connection.subscribeMessage(
      (event) => asked === this.subscription && this.receive({ ...this.contents, ...event }, null),
      this.command("subscribe"),
      // Home Assistant's own resubscription gives up if the integration isn't ready yet.
      { resubscribe: false },
    );
    this.subscription = asked;
    asked.catch((failure) => asked === this.subscription && this.receive(this.contents, failure));
  }

  /** @param {"subscribe" | "past"} name */
  command(name) {
    const { entry_id, entity, plans } = this.config ?? {};
    return { type: `tunnihind/card/${name}`, entry_id: entry_id || undefined, entity_id: entity || undefined, plans: plans || undefined };
  }

  /** Requests the prices of the 13 days before today, and shows them. */
  requestPast() {
    this.isPastAsked = true;
    const { prices } = this.contents;
    const receive = (/** @type {Partial<Contents>} */ past) => {
      if (prices !== this.contents.prices) return;
      this.isPastAnswered = true;
      this.past = past;
      this.showAll();
    };
    this.connection?.sendMessagePromise(this.command("past")).then(receive, () => receive({}));
  }

  unsubscribe() {
    clearTimeout(this.retry);
    this.connection?.removeEventListener("ready", this.onReady);
    // A refused subscription doesn't have to be ended.
    this.subscription?.then((unsubscribe) => unsubscribe()).catch(() => {});
    this.subscription = null;
  }

  /** @param {Partial<Contents>} contents @param {Failure | null} failure */
  receive(contents, failure) {
    const before = this.contents;
    if (contents.unit !== before.unit) this.wording = null;
    if (contents.prices !== before.prices) this.isPastAsked = this.isPastAnswered = false;
    this.contents = contents;
    this.failure = failure;
    clearTimeout(this.retry);
    if (failure || contents.state === "removed") this.retry = setTimeout(() => this.subscribe(), RETRY_MS);
    const here = Date.now() / 1000;
    const { clock_ahead_s: ahead = 0, now } = contents;
    const isRight = !now || (here + ahead > now.start - CLOCK_TOLERANCE_S && here + ahead < now.end + CLOCK_TOLERANCE_S);
    // If `now` is the same as before, its period may simply have ended, so it doesn't show that this device's clock is
    // wrong.
    if (isRight || now !== before.now) this.aheadS = isRight ? ahead : now.start - here;
    this.showAll();
    this.tick();
  }

  tick() {
    clearTimeout(this.timer);
    const { scene } = this.chart;
    if (!this.isConnected || !scene) return;
    this.chart.updateNow();
    this.timer = setTimeout(() => this.tick(), Math.min(QUARTER_S - (scene.now % QUARTER_S) + 0.05, TICK_S) * 1000);
  }

  showAll() {
    const { homeAssistant, config, elements, contents } = this;
    if (!homeAssistant || !config) return;
    this.wording ??= new Wording(homeAssistant.locale, homeAssistant.config.time_zone, contents.unit ?? "cents", contents.currency ?? "EUR");
    const { wording } = this;
    const message = this.message();
    elements.title.hidden = !config.title;
    setText(elements.title, config.title ?? "");
    for (const name of ["readout", "field", "foot", "note", "summary"]) elements[name].hidden = message !== "";
    elements.message.hidden = message === "";
    setText(elements.said, message);
    if (message) {
      setText(elements.note, "");
      this.announceSize();
      this.fit();
      return;
    }
    const isChosen = (/** @type {{entity_id: string | null}} */ { entity_id: id }) => config.show_plans !== false && (!config.plans?.length || config.plans.includes(id ?? ""));
    const known = (/** @type {"prices" | "selling"} */ name) => {
      const coming = periodsOf(contents[name]);
      return [...periodsOf(this.past[name]).filter(({ end }) => end <= (coming[0]?.start ?? end)), ...coming];
    };
    this.chart.show({
      periods: known("prices"),
      selling: config.show_selling ? known("selling") : [],
      plans: (contents.plans ?? []).filter(isChosen).map(({ name, entity_id, windows }) => ({ name, entity: entity_id, windows: joinedWindows(windows) })),
      batteries: (contents.batteries ?? []).filter(isChosen),
      isAllPast: this.isPastAnswered,
      wording,
    });
    this.showNote(contents);
    for (const range of RANGES) setText(elements[range], rangeName(this.chart.daysOf(range), wording.say));
    elements.week.hidden = this.chart.daysOf("week") <= RANGE_DAYS.two_days;
    this.announceSize();
    for (const move of /** @type {const} */ (["earlier", "later"])) elements[move].title = elements[move].ariaLabel = wording.say(move);
    elements.chart.ariaLabel = wording.say("chart");
    setText(elements.summary, this.summary());
    this.readoutValues = [];
    this.showReadout();
  }

  /** If the card's number of rows has changed, makes the dashboard read the number. */
  announceSize() {
    const { rows } = this.getGridOptions();
    if (this.rows && rows !== this.rows) this.dispatchEvent(new Event("card-updated", { bubbles: true, composed: true }));
    this.rows = rows;
  }

  /** The text to show instead of the prices, or "" if the prices can be shown. */
  message() {
    const { failure, contents: { state, prices } } = this;
    const isGone = failure || state === "removed" || state === "stopped";
    if (!isGone && prices?.price.some((price) => price !== null)) return "";
    const name = failure ? (failure.code ?? "") : (state ?? "starting");
    const key = MESSAGE_KEYS[name] ?? (name in TEXTS ? /** @type {TextKey} */ (name) : "failed");
    return textsIn(this.homeAssistant?.locale.language)(key, { reason: failure?.message ?? String(failure) });
  }

  /** Shows problems of the prices, and the mode if it is not "live". @param {Partial<Contents>} contents */
  showNote({ mode = "live", lost_since: lost, stale_since: stale, state, problems, plans_elsewhere: elsewhere = [] }) {
    const { elements, chart } = this;
    const wording = /** @type {Wording} */ (this.wording);
    const now = chart.clock();
    const sentences = [];
    if (lost) sentences.push(wording.say("lost", { time: wording.dayAndTime(lost, now) }));
    else if (stale) sentences.push(wording.say("stale", { time: wording.dayAndTime(stale, now) }));
    if (state === "no_price") sentences.push(wording.say("ended"));
    else if (!sentences.length && problems?.includes("prices_late")) sentences.push(wording.say("late"));
    for (const { name, zone, entry } of elsewhere) sentences.push(wording.say("elsewhere", { plan: name, place: (zone && wording.countries.of(zone)) ?? entry }));
    setText(elements.note, sentences.join(" "));
    elements.note.hidden = !sentences.length;
    elements.mode.hidden = mode === "live";
    if (mode !== "live") setText(elements.mode, wording.say(mode, { day: wording.dayFormats[0].format(now * 1000) }));
  }

  /** A text for screen readers: the lowest and highest prices of today and tomorrow, and the plans from today on. */
  summary() {
    const { periods, plans, wording, now } = /** @type {Scene} */ (this.chart.scene);
    const sentences = [];
    for (const name of /** @type {const} */ (["today", "tomorrow"])) {
      const from = wording.midnight(now, name === "today" ? 0 : 1);
      const [least, most] = extremes(periodsInView(periods, { from, to: wording.midnight(from, 1) })) ?? [];
      if (!least || !most) continue;
      const prices = { least: wording.priceText(least.price), most: wording.priceText(most.price), unit: wording.unit };
      const times = { leastAt: wording.timeOfDay(least.start), mostAt: wording.timeOfDay(most.start) };
      sentences.push(wording.say("summary", { day: wording.say(name), ...prices, ...times }));
    }
    const ahead = { from: wording.midnight(now), to: Infinity };
    for (const plan of plansInView(plans, ahead, now)) sentences.push(`${plan.name}: ${wording.planTimes(plan, ahead, now)}.`);
    return sentences.join(" ");
  }

  /** Says what batteries do at an instant and next, or why not. @param {number} ts */
  showBatteries(ts) {
    const { batteries, wording, now } = /** @type {Scene} */ (this.chart.scene);
    const words = (/** @type {string} */ key) => this.homeAssistant?.localize(`component.tunnihind.entity.sensor.action.${key}`) ?? "";
    buttonsIn(this.elements.batteries, batteries.length).forEach((button, i) => {
      const { name, entity_id: id, reason, course } = batteries[i];
      let text = `: ${reason ? words(`state_attributes.reason.state.${reason}`) : "–"}`;
      const runs = course?.runs.filter(([, to]) => ts < to).slice(0, 2);
      if (course && runs?.[0] && runs[0][0] <= ts) {
        const percent = (/** @type {number} */ at) => wording.percents.format(course.percent[Math.floor((at - course.start) / course.step)] / 100);
        const said = runs.map(([, to, action]) => wording.say("run", { action: words(`state.${action}`), until: wording.dayAndTime(to, now), percent: percent(to) }).toLowerCase());
        text = ` ${percent(ts)}: ${said.join(wording.say("then"))}`;
      }
      setText(button, name + text);
      button.onclick = () => this.open(id);
    });
  }

  /** @param {string | null} entityId */
  open(entityId) {
    if (entityId) this.dispatchEvent(new CustomEvent("hass-more-info", { bubbles: true, composed: true, detail: { entityId } }));
  }

  showPlanList() {
    const { plans, view, wording, now } = /** @type {Scene} */ (this.chart.scene);
    const list = /** @type {HTMLDialogElement} */ (this.elements.list);
    list.replaceChildren(...plansInView(plans, view, now).map((plan) => {
      const [button, when] = ["button", "small"].map((name) => document.createElement(name));
      when.append(wording.planTimes(plan, view, now));
      button.append(plan.name, when);
      button.onclick = () => this.open(plan.entity);
      return button;
    }));
    list.ariaLabel = wording.say("plans");
    list.showModal();
  }

  /**
   * Shows the period pointed at, or else the present one. Updates the buttons and the legend. If the view begins before
   * today, requests past prices.
   */
  showReadout() {
    const { elements, chart } = this;
    if (!chart.scene) return;
    const { wording, periods, selling, plans, now, pointedStart, view } = chart.scene;
    if (view.from < wording.midnight(now) && !this.isPastAsked) this.requestPast();
    for (const range of RANGES) elements[range].ariaPressed = String(chart.range === range);
    elements.earlier.toggleAttribute("disabled", view.from <= chart.viewLimits.from);
    elements.later.toggleAttribute("disabled", view.to >= chart.viewLimits.to);
    const hasForecast = periodsInView(periods, view).some((period) => !isPublished(period));
    const [period, sold] = [periods, selling].map((known) => periodAt(known, pointedStart ?? now));
    const running = period ? plans.filter((plan) => piecesIn(plan, { from: period.start, to: period.end }).length) : [];
    const shown = [period, sold, pointedStart, hasForecast, wording, chart.range, Math.floor(now / 60)];
    if (shown.every((one, i) => one === this.readoutValues[i])) return;
    this.readoutValues = shown;
    this.isFitted = false;
    const legend = hasForecast ? [["", wording.say("legend")]] : [];
    if (selling.length) legend.push(["sold", wording.say("selling")]);
    elements.legend.innerHTML = legend.map(([name, text]) => `<span><i class="${name}"></i>${text}</span>`).join("");
    const day = pointedStart === null ? wording.say("now") : wording.dayText(pointedStart, now);
    const { zone } = this.contents;
    const rank = period?.level == null ? "" : wording.say("ofDay", { level: wording.say(/** @type {TextKey} */ (`level${period.level}`)) });
    const when = [zone && wording.countries.of(zone), day, period && wording.timeRange(period.start, period.end), rank, running.map(({ name }) => name).join(", "), period && wording.intervalText(period)];
    setText(elements.when, when.filter((one) => one).join(" · "));
    setText(elements.amount, period ? wording.priceText(period.price) : "–");
    setText(elements.unit, period ? wording.unit : wording.say("none"));
    const { tint, word } = period ?? {};
    elements.level.hidden = !word;
    elements.level.className = `level ${TINTS[tint ?? TINTS.length - 1]}`;
    setText(elements.level, word ? wording.say(/** @type {TextKey} */ (word)) : "");
    setText(elements.advice, this.advice());
    this.showBatteries(period && period.end > now ? Math.max(period.start, now) : (pointedStart ?? now));
    const names = /** @type {const} */ (["market", "network", "fees", "vat"]);
    // The parts add up to the price as it is shown. Parts that round to zero are left out.
    const amounts = roundedParts(names.map((name) => (period?.parts?.[name] ?? 0) * SHOWN_PER_EURO));
    const lines = names.map((name, i) => [wording.say(name), wording.priceText(amounts[i] / SHOWN_PER_EURO)]).filter((_, i) => amounts[i]);
    if (sold) lines.push([wording.say("selling"), wording.priceText(sold.price)]);
    elements.parts.innerHTML = lines.map(([name, amount]) => `<div><dt>${name}</dt><dd>${amount}</dd></div>`).join("");
    const text = [elements.when, elements.amount, elements.unit, elements.level, ...elements.batteries.children].map((part) => part.textContent).concat(lines.map((line) => line.join(" ")));
    elements.chart.ariaValueMin = "0";
    elements.chart.ariaValueMax = String(periods.length);
    elements.chart.ariaValueNow = String(period ? periods.indexOf(period) : 0);
    elements.chart.ariaValueText = text.filter((one) => one).join(", ");
  }

  /** Advises whether to start a device now or later. */
  advice() {
    const { periods, wording, now } = /** @type {Scene} */ (this.chart.scene);
    const found = compareStarts(periods, now);
    if (!found) return "";
    if (found.best === "either") return wording.say("noWait");
    const [less, more] = [found.later, found.atOnce].sort((one, other) => one - other).map((price) => wording.priceText(price));
    const when = found.best === "now" ? wording.say("now") : wording.dayAndTime(found.start, now);
    return wording.say("start", { when: when[0].toLowerCase() + when.slice(1), less, more, unit: wording.unit });
  }

  /** Hides parts of the card until the rest fits, and measures the chart. */
  fit() {
    const { card, chart, field } = this.elements;
    if (!this.clientHeight) return;
    this.isFitted = true;
    for (const { name, least } of SIZES) {
      card.className = name;
      // The chart gets the height that the texts leave. What is drawn in it changes `scrollHeight`, but not this height.
      if (field.hidden ? card.scrollHeight <= card.clientHeight : chart.clientHeight >= least) break;
    }
    this.chart.drawing.measure();
  }
};

const say = textsIn(pageLanguage() || navigator.language);
const page = /** @type {{customCards?: object[]}} */ (/** @type {unknown} */ (window));
(page.customCards ??= []).push({
  type: "tunnihind-card",
  name: say("name"),
  description: say("description"),
  documentationURL: "https://github.com/tunnihind/tunnihind/blob/main/docs/home-assistant/card.md",
  preview: true,
  getEntitySuggestion: (/** @type {any} */ { entities, devices }, /** @type {string} */ id) => {
    const { platform, device_id: device } = entities[id] ?? {};
    // Home Assistant 2026.4 has no `config_entry_id` yet.
    const entry_id = devices[device]?.config_entry_id ?? devices[device]?.primary_config_entry;
    return platform === "tunnihind" ? { config: { type: "custom:tunnihind-card", ...(entry_id && { entry_id }) } } : null;
  },
});
// While its page loads, Home Assistant replaces the registry of elements, and loses its elements.
customElements.whenDefined("home-assistant").then(() => {
  if (!customElements.get("tunnihind-card")) customElements.define("tunnihind-card", cardClass(HTMLElement));
});
