// `Intl` in English, for an engine without ICU: numbers, dates, collation, plurals, lists and relative times.

import { zoneNames, zoneOf } from './zones.js';

const LOCALE = 'en-US';
const MONTHS = 'January February March April May June July August September October November December'.split(' ');
const DAYS = 'Sunday Monday Tuesday Wednesday Thursday Friday Saturday'.split(' ');
const SYMBOLS = { USD: '$', EUR: '€', GBP: '£', JPY: '¥', INR: '₹', CNY: 'CN¥', KRW: '₩', BRL: 'R$', CAD: 'CA$', AUD: 'A$', MXN: 'MX$' };
/** Currencies whose amounts have another number of decimal places than two. */
const CURRENCY_DIGITS = { JPY: 0, KRW: 0, VND: 0, CLP: 0, ISK: 0, XAF: 0, XOF: 0, BHD: 3, KWD: 3, OMR: 3, TND: 3, JOD: 3 };
const COMPACT = [[12, 'T'], [9, 'B'], [6, 'M'], [3, 'K']];
const LONG_COMPACT = { T: ' trillion', B: ' billion', M: ' million', K: ' thousand' };
const FRACTION_DIGITS_MAX = 100;

/** The tags of a locale argument. An invalid tag is a RangeError, as everywhere. */
function canonical(locales) {
  const list = locales === undefined ? [] : typeof locales === 'string' ? [locales] : Array.from(locales, String);
  for (const tag of list) {
    if (!/^[a-z]{2,8}(-[a-z\d]{1,8})*$/i.test(tag)) throw new RangeError(`invalid language tag: ${tag}`);
  }
  return list;
}

class Formatter {
  constructor(locales, options = {}) {
    canonical(locales);
    Object.defineProperty(this, 'options', { value: { ...options } });
  }

  static supportedLocalesOf(locales) {
    return canonical(locales).filter((tag) => /^en(-|$)/i.test(tag));
  }

  resolvedOptions() {
    return { locale: LOCALE, ...this.options };
  }
}

/** Makes a constructor callable without `new`, and its methods usable without their object, as those of engines with ICU. */
function exported(type, bound = []) {
  for (const name of bound) {
    const method = type.prototype[name];
    Object.defineProperty(type.prototype, name, { get() { return method.bind(this); }, configurable: true });
  }
  Object.defineProperty(type.prototype, Symbol.toStringTag, { value: `Intl.${type.name}`, configurable: true });
  return new Proxy(type, { apply: (target, _, list) => new target(...list) });
}

function digits(value, name, smallest, largest, fallback) {
  if (value === undefined) return fallback;
  if (!(value >= smallest && value <= largest)) throw new RangeError(`${name} is out of range: ${value}`);
  return Math.floor(value);
}

class NumberFormat extends Formatter {
  constructor(locales, options = {}) {
    super(locales, options);
    const { style = 'decimal', currency, notation = 'standard' } = options;
    if (style === 'currency' && currency === undefined) throw new TypeError('a currency is required');
    const code = currency && String(currency).toUpperCase();
    const usual = style === 'currency' ? CURRENCY_DIGITS[code] ?? 2 : 0;
    const most = style === 'currency' ? usual : style === 'percent' || notation === 'compact' ? 0 : 3;
    const least = digits(options.minimumFractionDigits, 'minimumFractionDigits', 0, FRACTION_DIGITS_MAX, undefined);
    const greatest = digits(options.maximumFractionDigits, 'maximumFractionDigits', 0, FRACTION_DIGITS_MAX, undefined);
    const minimumFractionDigits = least ?? Math.min(usual, greatest ?? usual);
    const maximumFractionDigits = greatest ?? Math.max(most, minimumFractionDigits);
    if (minimumFractionDigits > maximumFractionDigits) throw new RangeError('maximumFractionDigits is out of range');
    Object.assign(this.options, {
      numberingSystem: 'latn', style, notation, minimumFractionDigits, maximumFractionDigits,
      minimumIntegerDigits: digits(options.minimumIntegerDigits, 'minimumIntegerDigits', 1, 21, 1),
      useGrouping: options.useGrouping ?? 'auto', signDisplay: options.signDisplay ?? 'auto',
    });
    if (code) this.options.currency = code;
  }

  formatToParts(value) {
    const { options } = this;
    const big = typeof value === 'bigint';
    let number = big ? value : Number(value);
    if (options.style === 'percent') number = big ? number * 100n : shifted(number, 2);
    const negative = number < 0 || Object.is(number, -0);
    const parts = [...this.#magnitude(big ? (negative ? -number : number) : Math.abs(number))];
    const zero = parts.every(({ type, value: text }) => !/integer|fraction/.test(type) || /^0*$/.test(text));
    this.#surround(parts);
    const sign = this.#sign(negative, zero && !Number.isNaN(number));
    return sign ? [sign, ...parts] : parts;
  }

  #sign(negative, zero) {
    const { signDisplay } = this.options;
    const minus = negative && signDisplay !== 'never' && !(zero && (signDisplay === 'exceptZero' || signDisplay === 'negative'));
    if (minus) return { type: 'minusSign', value: '-' };
    const plus = signDisplay === 'always' || (signDisplay === 'exceptZero' && !zero);
    return !negative && plus ? { type: 'plusSign', value: '+' } : undefined;
  }

  *#magnitude(number) {
    const { options } = this;
    if (Number.isNaN(number)) return yield { type: 'nan', value: 'NaN' };
    if (number === Infinity) return yield { type: 'infinity', value: '∞' };
    let [text, letter] = [this.#rounded(number), ''];
    if (options.notation === 'compact') [text, letter] = this.#compact(number);
    const [integer, fraction] = text.split('.');
    const grouped = integer.padStart(options.minimumIntegerDigits, '0');
    const groups = options.useGrouping === false ? [grouped] : grouped.replace(/\B(?=(\d{3})+$)/g, ',').split(',');
    for (const [index, group] of groups.entries()) {
      if (index > 0) yield { type: 'group', value: ',' };
      yield { type: 'integer', value: group };
    }
    if (fraction) yield* [{ type: 'decimal', value: '.' }, { type: 'fraction', value: fraction }];
    if (letter) yield { type: 'compact', value: options.compactDisplay === 'long' ? LONG_COMPACT[letter] : letter };
  }

  #rounded(number) {
    const { minimumSignificantDigits: low, maximumSignificantDigits: high, minimumFractionDigits, maximumFractionDigits } = this.options;
    if (low !== undefined || high !== undefined) return significant(number, low ?? 1, high ?? 21);
    if (this.options.notation === 'compact' && number < 100 && maximumFractionDigits === 0) return significant(number, 1, 2);
    return fixed(number, minimumFractionDigits, maximumFractionDigits);
  }

  #compact(number) {
    const large = Number(number);
    for (const [places, letter] of COMPACT) {
      const text = this.#rounded(shifted(large, -places));
      if (Number(text) >= 1) return [text, letter];
    }
    return [this.#rounded(large), ''];
  }

  #surround(parts) {
    const { style, currency, currencyDisplay = 'symbol', unit, unitDisplay = 'short' } = this.options;
    if (style === 'percent') parts.push({ type: 'percentSign', value: '%' });
    if (style === 'unit') parts.push({ type: 'literal', value: ' ' }, { type: 'unit', value: unitDisplay === 'long' ? `${unit}s` : unit });
    if (style !== 'currency') return;
    if (currencyDisplay === 'name') return parts.push({ type: 'literal', value: ' ' }, { type: 'currency', value: currency });
    const symbol = currencyDisplay === 'code' ? currency : SYMBOLS[currency] ?? currency;
    parts.unshift({ type: 'currency', value: symbol });
    if (/[A-Z]$/.test(symbol) && parts[1].type === 'integer') parts.splice(1, 0, { type: 'literal', value: '\u00a0' });
  }

  format(value) {
    return joined(this.formatToParts(value));
  }
}

const joined = (parts) => parts.map(({ value }) => value).join('');

/** A number times a power of ten, without an error in its decimal digits. */
function shifted(number, places) {
  const [mantissa, exponent = 0] = String(number).split('e');
  const moved = Number(`${mantissa}e${Number(exponent) + places}`);
  return moved && Number.isFinite(number) ? moved : number;
}

/** The decimal digits of a number that is not negative, before and after the point. */
function decimal(number) {
  const [mantissa, exponent = 0] = String(number).split('e');
  const [integer, fraction = ''] = mantissa.split('.');
  const point = integer.length + Number(exponent);
  const digits = integer + fraction;
  if (point <= 0) return ['0', '0'.repeat(-point) + digits];
  return [digits.slice(0, point).padEnd(point, '0'), digits.slice(point)];
}

/** Rounds half away from zero, as written in decimal. */
function fixed(number, least, most) {
  const [integer, fraction] = decimal(number);
  const kept = BigInt(integer + fraction.slice(0, most).padEnd(most, '0')) + (fraction[most] >= '5' ? 1n : 0n);
  const digits = String(kept).padStart(most + 1, '0');
  const end = digits.length - most;
  const after = digits.slice(end).replace(/0+$/, '').padEnd(least, '0');
  return after ? `${digits.slice(0, end)}.${after}` : digits.slice(0, end);
}

function significant(number, least, most) {
  const [integer, fraction] = decimal(number);
  const first = (integer.replace(/^0+/, '') + fraction).search(/[1-9]/);
  if (first < 0) return least > 1 ? `0.${'0'.repeat(least - 1)}` : '0';
  // The position of the first digit that is not zero: 1 for units, 0 for tenths.
  const position = integer.replace(/^0+/, '').length - first;
  if (most < position) {
    const rounded = fixed(shifted(Number(number), -(position - most)), 0, 0);
    return decimal(shifted(Number(rounded), position - most))[0];
  }
  const rounded = fixed(number, Math.max(0, least - position), most - position);
  // Rounding may add a digit: 0.999 has one more before the point when it is 1.
  return Number(rounded) >= 10 ** position ? significant(Number(rounded), least, most) : rounded;
}

const STYLES = {
  full: { weekday: 'long', year: 'numeric', month: 'long', day: 'numeric' },
  long: { year: 'numeric', month: 'long', day: 'numeric' },
  medium: { year: 'numeric', month: 'short', day: 'numeric' },
  short: { year: '2-digit', month: 'numeric', day: 'numeric' },
};
const DATE_FIELDS = ['weekday', 'era', 'year', 'month', 'day'];
const TIME_FIELDS = ['dayPeriod', 'hour', 'minute', 'second', 'fractionalSecondDigits'];

/** The name of a time zone, and a function that returns its offset in milliseconds and its abbreviation at an instant. */
function zone(text) {
  if (/^(utc|gmt|etc\/(utc|gmt|uct|zulu|universal)|zulu|uct|universal)$/i.test(text)) return ['UTC', () => ({ offset: 0 })];
  const [, sign, hours, minutes = '00'] = /^([+-])(\d\d):?(\d\d)?$/.exec(text) ?? [];
  if (sign) {
    const offset = (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60_000;
    return [`${sign}${hours}:${minutes}`, () => ({ offset })];
  }
  const found = zoneOf(text);
  if (!found) throw new RangeError(`Invalid time zone specified: ${text}`);
  return found;
}

/** The zones whose abbreviations are English usage. Others are written by their offset. */
const ZONE_NAMES = { E: 'Eastern', C: 'Central', M: 'Mountain', P: 'Pacific', AK: 'Alaska', H: 'Hawaii-Aleutian' };

class DateTimeFormat extends Formatter {
  #period;
  #fields;

  constructor(locales, options = {}) {
    super(locales, options);
    const [timeZone, period] = zone(String(options.timeZone ?? 'UTC'));
    this.#period = period;
    this.#fields = this.#chosen(options);
    const { hour12, hourCycle = hour12 === undefined ? 'h12' : hour12 ? 'h12' : 'h23' } = options;
    Object.assign(this.options, { calendar: 'gregory', numberingSystem: 'latn', timeZone });
    if (this.#fields.hour) Object.assign(this.options, { hourCycle: hour12 === false ? 'h23' : hourCycle, hour12: hour12 ?? /h1[12]/.test(hourCycle) });
  }

  #chosen(options) {
    const { dateStyle, timeStyle } = options;
    if (dateStyle || timeStyle) {
      const time = timeStyle && { hour: 'numeric', minute: '2-digit', ...(timeStyle !== 'short' && { second: '2-digit' }) };
      const zone = /full|long/.test(timeStyle) && { timeZoneName: timeStyle === 'full' ? 'long' : 'short' };
      return { ...STYLES[dateStyle], ...time, ...zone };
    }
    const fields = {};
    for (const name of [...DATE_FIELDS, ...TIME_FIELDS, 'timeZoneName']) if (options[name] !== undefined) fields[name] = options[name];
    const isChosen = [...DATE_FIELDS, ...TIME_FIELDS].some((name) => name !== 'era' && name in fields);
    return isChosen ? fields : { year: 'numeric', month: 'numeric', day: 'numeric', ...fields };
  }

  formatToParts(date = Date.now()) {
    const time = Number(date);
    if (!Number.isFinite(time) || Math.abs(time) > 8.64e15) throw new RangeError('invalid date');
    const period = this.#period(time);
    const local = new Date(time + period.offset);
    const day = this.#date(local);
    const clock = this.#time(local, period);
    const gap = /full|long/.test(this.options.dateStyle) ? ' at ' : day.length === 1 && day[0].type === 'weekday' ? ' ' : ', ';
    return day.length && clock.length ? [...day, { type: 'literal', value: gap }, ...clock] : [...day, ...clock];
  }

  #date(local) {
    const { weekday, era, year, month, day } = this.#fields;
    const full = local.getUTCFullYear();
    const shown = full <= 0 ? 1 - full : full;
    const part = (type, width, value) => width && { type, value: width === '2-digit' ? String(value).padStart(2, '0').slice(-2) : String(value) };
    const named = /long|short|narrow/.test(month);
    const name = MONTHS[local.getUTCMonth()];
    const parts = {
      weekday: weekday && { type: 'weekday', value: cut(DAYS[local.getUTCDay()], weekday) },
      month: named ? { type: 'month', value: cut(name, month) } : part('month', month, local.getUTCMonth() + 1),
      day: part('day', day, local.getUTCDate()),
      year: part('year', year, shown),
    };
    const order = named ? ['month', 'day', 'year'] : ['month', 'day', 'year'];
    const dated = order.map((field) => parts[field]).filter(Boolean);
    const gaps = dated.slice(1).map(({ type }) => named ? (type === 'year' && parts.day ? ', ' : ' ') : '/');
    const result = dated.flatMap((found, index) => index ? [{ type: 'literal', value: gaps[index - 1] }, found] : [found]);
    if (era) result.push({ type: 'literal', value: ' ' }, { type: 'era', value: eraName(full, era) });
    if (!parts.weekday) return result;
    return result.length ? [parts.weekday, { type: 'literal', value: ', ' }, ...result] : [parts.weekday];
  }

  #time(local, period) {
    const { hour, minute, second, fractionalSecondDigits, timeZoneName } = this.#fields;
    const parts = [];
    const add = (type, value, before) => {
      if (parts.length && before) parts.push({ type: 'literal', value: before });
      parts.push({ type, value });
    };
    const two = (value) => String(value).padStart(2, '0');
    const hours = local.getUTCHours();
    const cycle = this.options.hourCycle;
    if (hour) {
      const shown = { h12: hours % 12 || 12, h11: hours % 12, h24: hours || 24 }[cycle] ?? hours;
      add('hour', hour === '2-digit' || !this.options.hour12 ? two(shown) : String(shown));
    }
    if (minute) add('minute', hour || second || minute === '2-digit' ? two(local.getUTCMinutes()) : String(local.getUTCMinutes()), ':');
    if (second) add('second', minute || second === '2-digit' ? two(local.getUTCSeconds()) : String(local.getUTCSeconds()), ':');
    if (fractionalSecondDigits) add('fractionalSecond', String(local.getUTCMilliseconds()).padStart(3, '0').slice(0, fractionalSecondDigits), '.');
    if (hour && this.options.hour12) add('dayPeriod', hours < 12 ? 'AM' : 'PM', ' ');
    if (timeZoneName) add('timeZoneName', this.#zoneName(timeZoneName, period), this.#fields.hour || this.#fields.minute ? ' ' : ', ');
    return parts;
  }

  #zoneName(width, { offset, abbreviation }) {
    if (this.options.timeZone === 'UTC') return width === 'long' ? 'Coordinated Universal Time' : /ffset/.test(width) ? 'GMT' : 'UTC';
    const [, region, kind] = /^(E|C|M|P|AK|H)([SD])T$/.exec(abbreviation) ?? [];
    if (region && /^(America|US|Pacific\/Honolulu)/.test(this.options.timeZone) && !/ffset/.test(width)) {
      const season = width === 'longGeneric' ? '' : kind === 'D' ? 'Daylight ' : 'Standard ';
      return /long/.test(width) ? `${ZONE_NAMES[region]} ${season}Time` : width === 'shortGeneric' ? `${region}T` : abbreviation;
    }
    const total = Math.round(Math.abs(offset) / 60_000);
    const [hours, minutes] = [Math.floor(total / 60), total % 60].map((value) => String(value).padStart(2, '0'));
    if (total === 0) return 'GMT';
    const sign = offset < 0 ? '-' : '+';
    return /long/.test(width) ? `GMT${sign}${hours}:${minutes}` : `GMT${sign}${Number(hours)}${minutes === '00' ? '' : `:${minutes}`}`;
  }

  format(date) {
    return joined(this.formatToParts(date));
  }

  formatRange(start, end) {
    const [from, to] = [this.format(start), this.format(end)];
    return from === to ? from : `${from} – ${to}`;
  }
}

const cut = (name, width) => width === 'long' ? name : name.slice(0, width === 'narrow' ? 1 : 3);

function eraName(year, width) {
  const names = { long: ['Before Christ', 'Anno Domini'], narrow: ['B', 'A'] }[width] ?? ['BC', 'AD'];
  return names[Number(year > 0)];
}

class Collator extends Formatter {
  constructor(locales, options = {}) {
    super(locales, options);
    const { usage = 'sort', sensitivity = 'variant', numeric = false, ignorePunctuation = false, caseFirst = 'false' } = options;
    Object.assign(this.options, { usage, sensitivity, numeric, ignorePunctuation, caseFirst, collation: 'default' });
  }

  compare(one, other) {
    const { sensitivity, numeric, ignorePunctuation } = this.options;
    const [a, b] = [one, other].map((text) => ignorePunctuation ? String(text).replace(/[\s!-/:-@[-`{-~]/g, '') : String(text));
    const base = (text) => text.normalize('NFD').replace(/[\u0300-\u036f]/g, '').toLowerCase();
    const first = ordered(base(a), base(b), numeric);
    if (first || sensitivity === 'base') return first;
    const marks = (text) => text.normalize('NFD').toLowerCase();
    const second = sensitivity === 'case' ? 0 : ordered(marks(a), marks(b), numeric);
    if (second || sensitivity === 'accent') return second;
    const swapped = (text) => text.replace(/[^]/gu, (letter) => letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase());
    return a === b ? 0 : this.options.caseFirst === 'upper' ? ordered(a, b, numeric) : ordered(swapped(a), swapped(b), numeric);
  }
}

/** The classes of characters, in their order: spaces, punctuation, digits, letters. */
const rank = (character) => /\s/.test(character) ? 0 : /[!-/:-@[-`{-~]/.test(character) ? 1 : /\d/.test(character) ? 2 : 3;

function ordered(a, b, numeric) {
  const pieces = (text) => numeric ? text.match(/\d+|\D/gu) ?? [] : Array.from(text);
  const [left, right] = [pieces(a), pieces(b)];
  for (let index = 0; index < Math.min(left.length, right.length); index++) {
    const [x, y] = [left[index], right[index]];
    if (numeric && /^\d/.test(x) && /^\d/.test(y)) {
      const difference = BigInt(x) - BigInt(y);
      if (difference) return difference < 0n ? -1 : 1;
    } else if (x !== y) {
      const difference = rank(x) - rank(y) || (x < y ? -1 : 1);
      return Math.sign(difference);
    }
  }
  return Math.sign(left.length - right.length);
}

class PluralRules extends Formatter {
  constructor(locales, options = {}) {
    super(locales, options);
    const { type = 'cardinal' } = options;
    const pluralCategories = type === 'ordinal' ? ['few', 'one', 'two', 'other'] : ['one', 'other'];
    Object.assign(this.options, { type, pluralCategories });
  }

  select(number) {
    if (this.options.type === 'cardinal') return number === 1 && !this.options.minimumFractionDigits ? 'one' : 'other';
    const [ones, tens] = [number % 10, number % 100];
    if (!Number.isInteger(number)) return 'other';
    if (ones >= 1 && ones <= 3 && (tens < 11 || tens > 13)) return ['one', 'two', 'few'][ones - 1];
    return 'other';
  }
}

class ListFormat extends Formatter {
  format(list) {
    return joined(this.formatToParts(list));
  }

  formatToParts(list) {
    const { type = 'conjunction', style = 'long' } = this.options;
    const items = Array.from(list, String);
    const word = type === 'unit' ? '' : type === 'disjunction' ? 'or ' : style === 'long' ? 'and ' : '& ';
    const before = (index) => index < items.length - 1 ? ', ' : items.length === 2 && word ? ` ${word}` : `, ${word}`;
    return items.flatMap((value, index) => {
      const element = { type: 'element', value };
      return index ? [{ type: 'literal', value: before(index) }, element] : [element];
    });
  }
}

const TODAY = { year: ['last year', 'this year', 'next year'], month: ['last month', 'this month', 'next month'], week: ['last week', 'this week', 'next week'], day: ['yesterday', 'today', 'tomorrow'] };

class RelativeTimeFormat extends Formatter {
  constructor(locales, options = {}) {
    super(locales, options);
    const { numeric = 'always', style = 'long' } = options;
    Object.assign(this.options, { numeric, style, numberingSystem: 'latn' });
  }

  format(value, unit) {
    const name = String(unit).replace(/s$/, '');
    if (!/^(year|quarter|month|week|day|hour|minute|second)$/.test(name)) throw new RangeError(`invalid unit: ${unit}`);
    const fixedName = this.options.numeric === 'auto' && TODAY[name]?.[value + 1];
    if (fixedName) return fixedName;
    if (this.options.numeric === 'auto' && value === 0) return name === 'second' ? 'now' : `this ${name}`;
    const amount = Math.abs(value);
    const text = `${new NumberFormat().format(amount)} ${name}${amount === 1 ? '' : 's'}`;
    return value < 0 || Object.is(value, -0) ? `${text} ago` : `in ${text}`;
  }

  formatToParts(value, unit) {
    return [{ type: 'literal', value: this.format(value, unit) }];
  }
}

globalThis.Intl = {
  NumberFormat: exported(NumberFormat, ['format']),
  DateTimeFormat: exported(DateTimeFormat, ['format']),
  Collator: exported(Collator, ['compare']),
  PluralRules: exported(PluralRules),
  ListFormat: exported(ListFormat),
  RelativeTimeFormat: exported(RelativeTimeFormat),
  getCanonicalLocales: canonical,
  supportedValuesOf: (key) => key === 'timeZone' ? zoneNames() : [],
  [Symbol.toStringTag]: 'Intl',
};
Object.defineProperty(globalThis, 'Intl', { enumerable: false });

const date = (defaults) => function toLocaleString(locales, options = {}) {
  if (Number.isNaN(this.getTime())) return 'Invalid Date';
  const names = [...DATE_FIELDS, ...TIME_FIELDS, 'dateStyle', 'timeStyle'];
  return new DateTimeFormat(locales, names.some((name) => name in options) ? options : { ...options, ...defaults }).format(this);
};
const DAY = { year: 'numeric', month: 'numeric', day: 'numeric' };
const CLOCK = { hour: 'numeric', minute: '2-digit', second: '2-digit' };
const methods = [
  [Date, 'toLocaleString', date({ ...DAY, ...CLOCK })],
  [Date, 'toLocaleDateString', date(DAY)],
  [Date, 'toLocaleTimeString', date(CLOCK)],
  [Number, 'toLocaleString', function toLocaleString(locales, options) { return new NumberFormat(locales, options).format(Number(this)); }],
  [BigInt, 'toLocaleString', function toLocaleString(locales, options) { return new NumberFormat(locales, options).format(BigInt(this)); }],
  [String, 'localeCompare', function localeCompare(that, locales, options) { return new Collator(locales, options).compare(String(this), String(that)); }],
];
for (const [{ prototype }, name, value] of methods) Object.defineProperty(prototype, name, { value, writable: true, configurable: true });
