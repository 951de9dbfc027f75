// The global `process` of Node.js, as far as there is anything that it describes.

const { performance } = globalThis;
const refused = (name) => () => {
  throw new Error(`process.${name} is not available in a tool`);
};
const seconds = (milliseconds) => [Math.floor(milliseconds / 1e3), Math.floor(milliseconds % 1e3 * 1e6)];
const hrtime = (since = [0, 0]) => {
  const [whole, rest] = seconds(performance.now());
  return rest < since[1] ? [whole - since[0] - 1, rest - since[1] + 1e9] : [whole - since[0], rest - since[1]];
};
hrtime.bigint = () => BigInt(Math.floor(performance.now() * 1e6));

const stream = { isTTY: false, columns: 80, write: (text) => (console.log(String(text).replace(/\n$/, '')), true) };
const process = {
  argv: [],
  browser: true,
  env: {},
  execArgv: [],
  pid: 1,
  platform: 'browser',
  title: 'tool',
  version: '',
  versions: {},
  chdir: refused('chdir'),
  cwd: () => '/',
  emitWarning: (warning) => console.warn(String(warning)),
  exit: refused('exit'),
  hrtime,
  kill: refused('kill'),
  memoryUsage: refused('memoryUsage'),
  nextTick: (work, ...values) => queueMicrotask(() => work(...values)),
  off: () => process,
  on: () => process,
  once: () => process,
  stderr: stream,
  stdout: stream,
  uptime: () => performance.now() / 1e3,
};
Object.defineProperty(globalThis, 'process', { value: process, writable: true, configurable: true });

/** Makes the variables of a run its environment. A secret is not part of it, and the error of a reader says where it is. */
export function setEnvironment({ envvars, secrets }) {
  Object.assign(process.env, envvars);
  for (const name of Object.keys(secrets)) {
    const get = () => {
      throw new Error(`process.env.${name}: a secret is not in the environment; runTool gets it as config.secrets.${name}`);
    };
    Object.defineProperty(process.env, name, { get, configurable: true });
  }
}
