// Makes the JavaScript image from the shim: `node build.mjs OUTPUT RECIPE`.
//
// StarlingMonkey starts, loads the shim, and is stopped; what it has in memory then is the image. RECIPE gets the digest
// of all that the image was made from, so that a test can tell whether the two still belong together.

import { createHash } from 'node:crypto';
import { readFile, readdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const [output, recipe] = process.argv.slice(2);

// The generator names its scratch directory by chance, and the name stays in the image.
Math.random = () => 0.5;
const { componentize } = await import('@bytecodealliance/componentize-js');

const { component } = await componentize({
  sourcePath: join(here, 'shim/lathe.js'),
  witPath: join(here, '../wit'),
  worldName: 'image',
  // Requests leave through `lathe:tool/http`.
  disableFeatures: ['http', 'fetch-event'],
});
await writeFile(output, component);
await writeFile(recipe, `${await digest()}\n`);

/** Over name, length and contents of each file, in the order of their names. */
async function digest() {
  const below = async (directory) => (await readdir(join(here, directory))).map((name) => `${directory}/${name}`);
  const files = ['build.mjs', 'package-lock.json', 'package.json', ...(await below('shim')), ...(await below('../wit'))];
  const hash = createHash('sha256');
  for (const file of files.sort()) {
    const contents = await readFile(join(here, file));
    hash.update(`${file}\0${contents.length}\0`).update(contents);
  }
  return hash.digest('hex');
}
