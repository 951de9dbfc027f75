// The event loop: waits for timers and for the host's responses.
//
// The engine's own event loop cannot wait for `lathe:tool/http`, so timers are implemented here. The engine's timers serve
// two purposes: to continue when no promise job is left, and to sleep.

const engineTimeout = globalThis.setTimeout;
const now = performance.now.bind(performance);

/** Promise steps before the event loop is used. Most tools that wait for nothing complete within them. */
const FREE_STEPS = 8;

/** Idle turns before a deadlock is reported. The engine reads `Blob` and form bodies in several turns of its own loop. */
const IDLE_TURNS_MAX = 200;

/** The longest delay of a timer in milliseconds, as in browsers. */
const DELAY_MAX = 2 ** 31 - 1;

const timers = new Map();
const answers = new Map();
let lastTimer = 0;
let host;

/** The tool waits, but no timer and no request is pending: it would wait forever. */
export class Deadlock extends Error {
  name = 'Deadlock';
}

export function connectLoop(http) {
  host = http;
}

/** Runs the event loop until the promise is settled. Returns its value or throws its error. */
export async function settled(promise) {
  let end = null;
  promise.then(
    (value) => (end = { value }),
    (error) => (end = { error }),
  );
  for (let step = 0; step < FREE_STEPS && !end; step++) await undefined;
  for (let idle = 0; !end; ) {
    await asleep(0);
    if (end) break;
    if (await turn()) idle = 0;
    else if (++idle > IDLE_TURNS_MAX) throw new Deadlock('the tool awaits something that can never happen');
  }
  if ('error' in end) throw end.error;
  return end.value;
}

/** Resolves when the host has the response. */
export function answered(exchange) {
  return new Promise((resolve) => answers.set(exchange, resolve));
}

export function forget(exchange) {
  answers.delete(exchange);
}

/** Runs the next timer or handles completed requests. Returns `false` if none is pending. */
async function turn() {
  const next = nextTimer();
  const left = next && Math.max(0, next.due - now());
  if (answers.size > 0) {
    take(left);
    if (left !== 0) return true;
  } else if (!next) {
    return false;
  } else if (left > 0) {
    await asleep(left);
  }
  if (timers.has(next.id)) fire(next);
  return true;
}

function take(milliseconds) {
  const limit = milliseconds === undefined ? undefined : BigInt(Math.ceil(milliseconds));
  for (const exchange of host.wait([...answers.keys()], limit)) {
    answers.get(exchange)?.();
    answers.delete(exchange);
  }
}

function asleep(milliseconds) {
  return new Promise((resolve) => engineTimeout(resolve, milliseconds));
}

function nextTimer() {
  let next;
  for (const timer of timers.values()) {
    if (!next || timer.due < next.due) next = timer;
  }
  return next;
}

/** Runs a timer's callback. Its exceptions end the run, since no code of the tool can catch them. */
function fire(timer) {
  if (timer.every === undefined) timers.delete(timer.id);
  else timer.due = now() + timer.every;
  timer.callback(...timer.parameters);
}

function start(callback, delay, parameters, repeats) {
  if (typeof callback !== 'function') throw new TypeError('the callback of a timer must be a function');
  const milliseconds = Number(delay) > 0 && Number(delay) <= DELAY_MAX ? Number(delay) : 0;
  const every = repeats ? Math.max(1, milliseconds) : undefined;
  const timer = { id: ++lastTimer, due: now() + milliseconds, callback, parameters, every };
  timers.set(timer.id, timer);
  return timer.id;
}

function stop(id) {
  timers.delete(Number(id));
}

export function after(milliseconds, callback) {
  return start(callback, milliseconds, [], false);
}

globalThis.setTimeout = (callback, delay, ...parameters) => start(callback, delay, parameters, false);
globalThis.setInterval = (callback, delay, ...parameters) => start(callback, delay, parameters, true);
globalThis.clearTimeout = globalThis.clearInterval = stop;
