// JSON of values that leave the tool: a value that JSON would drop or change is refused with its place.

/** Levels of lists and objects within each other. Each takes some of the engine's stack. */
const LEVELS_MAX = 1000;

/** Characters of a place, which has names that the author chose. */
const PLACE_MAX = 500;

/**
 * Returns a value as compact JSON. `undefined` if the value is `undefined`. An error begins with `refusal`, `root` is the name of the value
 * in it, and `Refused` its class.
 *
 * A property that is `undefined` is left out, since reading it gives `undefined` then, too. An object with `toJSON`, such as a `Date`,
 * is what this method returns.
 */
export function jsonOf(value, { root, refusal, Refused = TypeError }) {
  const place = { root, refusal, Refused, path: [], above: new Set() };
  const copy = plain(value, place, '');
  try {
    return JSON.stringify(copy);
  } catch {
    // Only the stack of the engine can be too small for a copy.
    place.path.length = 0;
    refuse(place, value, 'it is nested too deeply');
  }
}

/** Returns a text that is valid Unicode. */
export function wellFormed(name, text) {
  if (!text.isWellFormed()) throw new TypeError(`${name} has a lone surrogate, which is not valid Unicode`);
  return text;
}

/** Returns a copy that `JSON.stringify` writes as it is: what was checked is what is written. */
function plain(value, place, key) {
  const given = unboxed(converted(value, place, key));
  switch (typeof given) {
    case 'string':
      if (!given.isWellFormed()) refuse(place, given, 'it has a lone surrogate, which is not valid Unicode');
      return given;
    case 'number':
      if (!Number.isFinite(given)) refuse(place, given, `${given} is not a JSON number`);
      return given;
    case 'boolean':
    case 'undefined':
      return given;
    case 'bigint':
      refuse(place, given, 'JSON has no BigInt: return String(value), or Number(value) if it is small enough');
    case 'function':
    case 'symbol':
      refuse(place, given, `JSON has no ${typeof given}`);
  }
  if (given === null) return null;
  if (place.above.has(given)) refuse(place, given, 'it contains itself');
  if (place.above.size >= LEVELS_MAX) refuse(place, given, `it is nested more than ${LEVELS_MAX} levels deep`);
  place.above.add(given);
  const copy = Array.isArray(given) ? list(given, place) : record(given, place);
  place.above.delete(given);
  return copy;
}

/** Returns what the `toJSON` of a value returns, and other values unchanged. */
function converted(value, place, key) {
  if ((typeof value !== 'object' && typeof value !== 'bigint') || value === null || typeof value.toJSON !== 'function') return value;
  if (value instanceof Date && Number.isNaN(value.getTime())) refuse(place, value, 'the date is invalid');
  const made = value.toJSON(key);
  if (made === undefined) refuse(place, value, 'its toJSON returns undefined');
  return made;
}

function unboxed(value) {
  const isBoxed = value instanceof Number || value instanceof String || value instanceof Boolean || value instanceof BigInt;
  return isBoxed ? value.valueOf() : value;
}

function list(values, place) {
  const copy = [];
  for (let index = 0; index < values.length; index++) {
    place.path.push(index);
    if (values[index] === undefined) refuse(place, undefined, 'JSON has no undefined in a list: write null, or leave the item out');
    copy.push(plain(values[index], place, String(index)));
    place.path.pop();
  }
  // The list of a match of a regular expression has `index` and `groups`, too.
  const name = Object.keys(values)[copy.length];
  if (name !== undefined) refuse(place, values, `JSON has no list with the property ${name}: return [...value], or an object`);
  return copy;
}

function record(value, place) {
  const kind = kindOf(value);
  if (kind !== 'Object') refuse(place, value, `JSON has no ${kind}: ${HINTS[kind] ?? 'return what you need of it as a string, a list or an object'}`);
  const symbol = Object.getOwnPropertySymbols(value).find((one) => Object.prototype.propertyIsEnumerable.call(value, one));
  if (symbol) refuse(place, value, `it has the key ${String(symbol)}, and a JSON key is a string`);
  const names = Object.keys(value);
  for (const name in value) {
    const isLost = !Object.hasOwn(value, name) && typeof value[name] !== 'function';
    if (isLost) refuse(place, value, `it inherits ${name}, and JSON has the properties of its own only: return { ...value, ${name}: value.${name} }`);
  }
  const parent = Object.getPrototypeOf(value);
  if (names.length === 0 && parent !== null && parent !== Object.prototype) {
    refuse(place, value, 'it has no properties of its own: give its class a toJSON');
  }
  // Without a prototype, `__proto__` is a name like others.
  const copy = Object.create(null);
  for (const name of names) {
    place.path.push(name);
    if (!name.isWellFormed()) refuse(place, value, 'its name has a lone surrogate, which is not valid Unicode');
    copy[name] = plain(value[name], place, name);
    place.path.pop();
  }
  return copy;
}

const HINTS = {
  Map: 'return Object.fromEntries(value)',
  Set: 'return [...value]',
  Promise: 'await it',
  Error: 'return its message, or throw it',
  Date: 'return value.toISOString()',
  RegExp: 'return String(value)',
  ArrayBuffer: 'return its bytes as a list, or add them with content',
  URLSearchParams: 'return String(value)',
  Headers: 'return Object.fromEntries(value)',
  Response: 'return await value.text() or await value.json()',
};

for (const view of [Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array, Uint32Array, Float32Array, Float64Array]) {
  HINTS[view.name] = 'return Array.from(value)';
}

function refuse({ root, refusal, Refused, path }, value, reason) {
  const shown = path.map((part) => (typeof part === 'number' ? `[${part}]` : `.${part.toWellFormed()}`)).join('');
  const place = `${root}${shown}`;
  const cut = place.length > PLACE_MAX ? `${place.slice(0, PLACE_MAX).toWellFormed()}…` : place;
  throw new Refused(`${refusal}: ${cut} (${kindOf(value)}): ${reason}`);
}

function kindOf(value) {
  if (typeof value !== 'object' || value === null) return value === null ? 'null' : typeof value;
  return Object.prototype.toString.call(value).slice('[object '.length, -1);
}
