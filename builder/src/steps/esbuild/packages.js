// Gives the author's script its packages, by the names that it imports them by. Each is loaded once, when it is asked for.

const loaders = new Map([/* loaders */]);
const loaded = new Map();

/** A namespace in the form that an importer takes as it is. Members of a module that needs a system are in its prototype. */
function whole(namespace) {
  const made = Object.create(Object.getPrototypeOf(namespace), { __esModule: { value: true } });
  for (const name of Object.getOwnPropertyNames(namespace)) {
    if (name !== '__esModule') Object.defineProperty(made, name, { get: () => namespace[name], enumerable: true });
  }
  return made;
}

globalThis[Symbol.for('lathe.packages')] = (name) => {
  if (!loaded.has(name)) loaded.set(name, whole(loaders.get(name)()));
  return loaded.get(name);
};
