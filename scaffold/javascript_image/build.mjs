// Builds the component of the JavaScript image from the shim: `node build.mjs OUTPUT`.
//
// StarlingMonkey starts and loads the shim. A snapshot of its memory becomes the component's initial memory.

import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { generate } from './generate.mjs';
import { writeLicenses } from './licenses.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const [output] = process.argv.slice(2);

// The generator chooses a random name for its temporary directory, and the name becomes part of the image.
Math.random = () => 0.5;
const { componentize } = await import('@bytecodealliance/componentize-js');

// The engine is part of the package that makes the image.
await writeLicenses([...await generate(), 'node_modules/@bytecodealliance/componentize-js/lib/starlingmonkey_embedding.wasm']);
const { component } = await componentize({
  sourcePath: join(here, 'shim/lathe.js'),
  witPath: join(here, '../wit'),
  worldName: 'image',
  // Requests are sent with `lathe:tool/http`.
  disableFeatures: ['http', 'fetch-event'],
});
await writeFile(output, component);
