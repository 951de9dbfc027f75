// Log messages with a level.

import { jsonOf, wellFormed } from './json.js';

const LEVELS = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'];

/** Maximum characters of a message; above the limit of the host, which is in bytes. */
const MESSAGE_MAX = 1 << 16;

/** Returns the argument `log` of `runTool`. */
export function logOf(send) {
  return function log(level, data, { logger } = {}) {
    if (!LEVELS.includes(level)) throw new TypeError(`log: level must be one of ${LEVELS.join(', ')}`);
    if (logger !== undefined && typeof logger !== 'string') throw new TypeError('log: logger must be a string');
    if (logger !== undefined) wellFormed('log: logger', logger);
    const message = jsonOf(data, { root: 'data', refusal: 'log: the data cannot be sent' });
    if (message === undefined) throw new TypeError('log: data must be a JSON value');
    try {
      send(level, logger, message.slice(0, MESSAGE_MAX));
    } catch {
      // A message beyond the limits of the host does not fail the run.
    }
  };
}
