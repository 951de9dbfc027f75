// The part of `process` that the packages in the image use.

export const process = {
  browser: true,
  env: {},
  version: '',
  versions: {},
  platform: 'browser',
  cwd: () => '/',
  nextTick: (work, ...list) => queueMicrotask(() => work(...list)),
  emitWarning: (warning) => console.warn(String(warning)),
};
