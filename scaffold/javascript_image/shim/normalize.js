// Normal forms of Unicode, for an engine without ICU.

import unorm from '../generated/unorm.js';

const FORMS = { NFC: unorm.nfc, NFD: unorm.nfd, NFKC: unorm.nfkc, NFKD: unorm.nfkd };

function normalize(form = 'NFC') {
  const normal = FORMS[String(form)];
  if (!normal) throw new RangeError(`The normalization form should be one of ${Object.keys(FORMS).join(', ')}.`);
  const text = String(this);
  // Most text has no characters that a normal form changes.
  return /^[\0-\x7f]*$/.test(text) ? text : normal(text);
}

Object.defineProperty(String.prototype, 'normalize', { value: normalize, writable: true, configurable: true });
