// Loads packages ahead of any run.

const load = globalThis[Symbol.for('lathe.packages')];
const { Date, performance, setInterval, setTimeout } = globalThis;
const now = performance.now;
let isLoading = true;
let problem = null;

// What is started now would be under way in every run, and what is seen of the time would be old. Who keeps one of these
// keeps what it stands for.
function noticed(made, what) {
  return function (...values) {
    if (isLoading) problem ??= what;
    return made.apply(this, values);
  };
}

globalThis.setTimeout = noticed(setTimeout, 'it starts a timer when it is imported');
globalThis.setInterval = noticed(setInterval, 'it starts a timer when it is imported');
performance.now = noticed(now, 'it looks at the time when it is imported');
const dateNow = noticed(Date.now, 'it looks at the time when it is imported');
globalThis.Date = new Proxy(Date, {
  get: (date, name) => (name === 'now' ? dateNow : date[name]),
  construct(date, values, made) {
    if (isLoading && values.length === 0) problem ??= 'it looks at the time when it is imported';
    return Reflect.construct(date, values, made === globalThis.Date ? date : made);
  },
});
try {
  for (const name of [/* names */]) load(name);
} finally {
  isLoading = false;
  Object.assign(globalThis, { Date, setInterval, setTimeout });
  performance.now = now;
}
if (problem) throw new Error(problem);
