// The event loop: timers and the host's answers, in one place that waits for both.
//
// The engine has a loop of its own, which knows nothing of `lathe:tool/http`. So the timers are kept here, and the
// engine's are used for two things: to be called back when no promise has anything left to do, and to sleep.

const engineTimeout = globalThis.setTimeout;
const now = performance.now.bind(performance);

/** Most tools that wait for nothing are done within so many steps of their promises. */
const FREE_STEPS = 8;

/** The engine reads a body that is a `Blob` or a form in turns of its own loop, a part in each. */
const IDLE_TURNS_MAX = 200;

/** The longest delay of a timer, as everywhere. */
const DELAY_MAX = 2 ** 31 - 1;

const timers = new Map();
const answers = new Map();
let lastTimer = 0;
let host;

/** Nothing is ready and no timer runs: the tool would wait for ever. */
export class Deadlock extends Error {
  name = 'Deadlock';
}

export function connectLoop(http) {
  host = http;
}

/** Runs everything until the promise is settled, and returns what it is settled with. */
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

/** Resolves when the host has the exchange's answer. */
export function answered(exchange) {
  return new Promise((resolve) => answers.set(exchange, resolve));
}

export function forget(exchange) {
  answers.delete(exchange);
}

/** One timer, or what the host has answered meanwhile; `false` when there is neither. */
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

/** What a callback throws ends the run, since nobody else could see it. */
function fire(timer) {
  if (timer.every === undefined) timers.delete(timer.id);
  else timer.due = now() + timer.every;
  timer.callback(...timer.parameters);
}

function start(callback, delay, parameters, repeats) {
  if (typeof callback !== 'function') throw new TypeError('a timer calls a function');
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
