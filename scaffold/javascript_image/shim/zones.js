// Time zones of regions, for an engine without ICU: the packed data of moment-timezone.
//
// A zone is `name|abbreviations|offsets|indices|ends|population`. Numbers are in base 60; an offset is in minutes west of UTC,
// and an end is in minutes after the one before it.

import { LINKS, ZONES } from '../generated/zones.js';

const DIGITS = '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWX';
const MINUTE_MS = 60_000;

const sources = new Map(ZONES.map((text) => [text.slice(0, text.indexOf('|')), text]));
const decoded = new Map();
let names;

function number(text) {
  const [, sign, whole, fraction] = /^(-?)([^.]*)\.?(.*)$/.exec(text);
  let value = 0;
  for (const digit of whole) value = value * 60 + DIGITS.indexOf(digit);
  let place = 1;
  for (const digit of fraction) value += DIGITS.indexOf(digit) * (place /= 60);
  return sign ? -value : value;
}

/** The periods of a zone: until when, with which offset in milliseconds and which abbreviation. */
function periods(name) {
  if (!decoded.has(name)) {
    const [, abbreviations, offsets, indices, ends] = sources.get(name).split('|').map((part) => part.split(' '));
    let end = 0;
    decoded.set(name, Array.from(indices[0], (digit, index) => {
      const at = number(digit);
      end = index < ends.length && ends[index] ? Math.round(end + number(ends[index]) * MINUTE_MS) : Infinity;
      return { end: index === indices[0].length - 1 ? Infinity : end, offset: -number(offsets[at]) * MINUTE_MS, abbreviation: abbreviations[at] };
    }));
  }
  return decoded.get(name);
}

/** All names, in lower case: the name as written, and the zone that it links to. */
function known() {
  if (!names) {
    names = new Map([...sources.keys()].map((name) => [name.toLowerCase(), [name, name]]));
    for (const link of LINKS) {
      const [target, name] = link.split('|');
      names.set(name.toLowerCase(), [name, target]);
    }
  }
  return names;
}

/** Returns the name as the database writes it, and a function that returns the period of an instant; `undefined` for an unknown name. */
export function zoneOf(text) {
  const [name, target] = known().get(text.toLowerCase()) ?? [];
  return name && [name, (time) => periods(target).find(({ end }) => time < end)];
}

/** The names of all zones. */
export const zoneNames = () => [...known().values()].map(([name]) => name).sort();
