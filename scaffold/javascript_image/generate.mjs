// Writes the files that the shim imports: the tables of Unicode and of time zones, and the modules of Node.js.

import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { build } from 'esbuild';
import propertyAliases from 'unicode-property-aliases-ecmascript';

const here = dirname(fileURLToPath(import.meta.url));
const require = createRequire(import.meta.url);
const UNICODE = 'regenerate-unicode-properties';
const ZONES = 'moment-timezone/data/packed/latest.json';

/** Pairs of distances in base 36: from the end of the last range to the start of this one, and its length. */
function text({ data }) {
  const pairs = [];
  let last = 0;
  for (let index = 0; index < data.length; index += 2) {
    const [start, end] = [data[index], data[index + 1] - 1];
    const length = end - start;
    pairs.push((start - last).toString(36) + (length ? ` ${length.toString(36)}` : ''));
    last = end;
  }
  return pairs.join(',');
}

async function properties() {
  const found = {};
  const kinds = { General_Category: '', Binary_Property: '', Script: 'sc=', Script_Extensions: 'scx=' };
  for (const [directory, kind] of Object.entries(kinds)) {
    const files = await readdir(join(dirname(require.resolve(`${UNICODE}/package.json`)), directory));
    for (const file of files.sort()) {
      const name = file.replace(/\.js$/, '');
      found[kind + name] = text(require(`${UNICODE}/${directory}/${file}`).characters);
    }
  }
  return found;
}

/** The canonical names of short ones. */
function aliases() {
  const found = {};
  const values = require('unicode-property-value-aliases-ecmascript');
  for (const [property, kinds] of [['General_Category', ['']], ['Script', ['sc=', 'scx=']]]) {
    for (const [alias, name] of values.get(property)) {
      if (alias !== name) for (const kind of kinds) found[kind + alias] = name;
    }
  }
  for (const [alias, name] of propertyAliases) {
    if (alias !== name) found[alias] = name;
  }
  return found;
}

/** Writes the files, and returns the paths of all files that became part of them. */
export async function generate() {
  const directory = join(here, 'generated');
  await mkdir(directory, { recursive: true });
  const tables = { PROPERTIES: await properties(), ALIASES: aliases() };
  const exported = Object.entries(tables).map(([name, table]) => `export const ${name} = ${JSON.stringify(table, null, 1)};\n`);
  await writeFile(join(directory, 'properties.js'), exported.join(''));
  const { zones, links } = require(ZONES);
  await writeFile(join(directory, 'zones.js'), `export const ZONES = ${JSON.stringify(zones, null, 1)};\nexport const LINKS = ${JSON.stringify(links, null, 1)};\n`);
  const options = { absWorkingDir: here, bundle: true, format: 'esm', platform: 'browser', target: 'es2022', legalComments: 'none', minifySyntax: true, minifyWhitespace: true, metafile: true };
  const modules = await build({ ...options, entryPoints: ['polyfills/modules.js'], inject: ['polyfills/process.js'], define: { global: 'globalThis' }, outfile: 'generated/node.js' });
  const forms = await build({ ...options, stdin: { contents: "export { default } from 'unorm';", resolveDir: here }, outfile: 'generated/unorm.js' });
  const bundled = [modules, forms].flatMap(({ metafile }) => Object.keys(metafile.inputs));
  const unicode = [UNICODE, 'unicode-property-aliases-ecmascript', 'unicode-property-value-aliases-ecmascript'];
  // esbuild lists files that a package replaces by nothing, too.
  return [...bundled.filter((file) => !file.startsWith('(disabled):')), ...unicode.map((name) => `node_modules/${name}/index.js`), `node_modules/${ZONES}`];
}
