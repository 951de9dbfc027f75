// Unicode properties in regular expressions, such as `\p{L}`, for an engine without ICU.
//
// The builder writes literals with a flag u or v as calls of RegExp, which replaces each property by its characters.

import { PROPERTIES, ALIASES } from '../generated/properties.js';

const Native = RegExp;
const LAST = 0x10ffff;
const decoded = new Map();

/** The ranges of a property, from pairs of distances in base 36. */
function ranges(text) {
  const result = [];
  let last = 0;
  for (const pair of text.split(',')) {
    const [gap, length = 0] = pair.split(' ').map((part) => parseInt(part, 36));
    result.push([last + gap, last + gap + length]);
    last += gap + length;
  }
  return result;
}

function inverse(list) {
  const result = [];
  let from = 0;
  for (const [start, end] of list) {
    if (start > from) result.push([from, start - 1]);
    from = end + 1;
  }
  if (from <= LAST) result.push([from, LAST]);
  return result;
}

const escaped = (code) => `\\u{${code.toString(16)}}`;

/** The contents of a class with the characters of a property. */
function contents(expression, isInverse) {
  const key = `${isInverse ? '^' : ''}${expression}`;
  if (!decoded.has(key)) {
    const [, name, value] = /^(?:(gc|General_Category|sc|Script|scx|Script_Extensions)=)?(\w+)$/.exec(expression) ?? [];
    const kind = { gc: '', General_Category: '', sc: 'sc=', Script: 'sc=', scx: 'scx=', Script_Extensions: 'scx=' }[name] ?? '';
    const text = PROPERTIES[kind + (ALIASES[kind + value] ?? value)];
    if (text === undefined) throw new SyntaxError(`invalid property name in regular expression: ${expression}`);
    const list = isInverse ? inverse(ranges(text)) : ranges(text);
    decoded.set(key, list.map(([from, to]) => from === to ? escaped(from) : `${escaped(from)}-${escaped(to)}`).join(''));
  }
  return decoded.get(key);
}

/** Replaces the properties of a pattern, inside and outside of classes. */
function rewritten(pattern, isSets) {
  let depth = 0;
  let result = '';
  const tokens = /\\([pP])\{([^}]*)\}|\\[^]|[[\]]|[^\\[\]]+/g;
  for (const [token, letter, expression] of pattern.matchAll(tokens)) {
    if (letter) {
      const text = contents(expression, letter === 'P');
      result += depth === 0 || isSets ? `[${text}]` : text;
    } else {
      if (token === '[') depth = isSets ? depth + 1 : 1;
      else if (token === ']') depth = isSets ? depth - 1 : 0;
      result += token;
    }
  }
  return result;
}

function supported(pattern, flags) {
  const of = flags ?? (pattern instanceof Native ? pattern.flags : '');
  const isUnicode = /[uv]/.test(String(of));
  if (!isUnicode || pattern instanceof Native || typeof pattern !== 'string' || !/\\[pP]\{/.test(pattern)) return pattern;
  return rewritten(pattern, String(of).includes('v'));
}

globalThis.RegExp = new Proxy(Native, {
  construct: (target, [pattern, flags], self) => Reflect.construct(target, [supported(pattern, flags), flags], self),
  apply: (target, self, [pattern, flags]) => Reflect.apply(target, self, [supported(pattern, flags), flags]),
});
Object.defineProperty(globalThis, 'RegExp', { enumerable: false });
Native.prototype.constructor = globalThis.RegExp;
