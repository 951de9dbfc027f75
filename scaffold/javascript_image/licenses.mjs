// Writes LICENSES.txt: the licences of the packages that the image contains.

import { readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const PACKAGES = 'node_modules/';
const LINE = '-'.repeat(80);

const HEAD = `The JavaScript image contains code and tables of these packages of npm. licenses.mjs writes this file.

The engine in @bytecodealliance/componentize-js is StarlingMonkey (Apache-2.0 WITH LLVM-exception, as the package), which
contains SpiderMonkey (MPL-2.0). Their sources are the repositories bytecodealliance/StarlingMonkey and
mozilla-firefox/firefox on GitHub.
`;

/** The directory of the package that a file belongs to, if any. */
function packageOf(file) {
  const end = file.lastIndexOf(PACKAGES) + PACKAGES.length;
  if (end < PACKAGES.length) return undefined;
  return file.slice(0, end) + file.slice(end).split('/').slice(0, file[end] === '@' ? 2 : 1).join('/');
}

async function section(directory) {
  const { name, version, license } = JSON.parse(await readFile(join(here, directory, 'package.json'), 'utf8'));
  const files = (await readdir(join(here, directory))).filter((file) => /^(licen[cs]e|copying|notice)/i.test(file)).sort();
  if (files.length === 0) throw new Error(`${directory} has no licence file`);
  const texts = await Promise.all(files.map((file) => readFile(join(here, directory, file), 'utf8')));
  const text = texts.join('\n').replaceAll('\r\n', '\n').replace(/[ \t]+$/gm, '').trim();
  return `${LINE}\n${name} ${version}${license ? ` (${license})` : ''}\n${LINE}\n\n${text}\n`;
}

/** Writes the licences of the packages that have one of the files. */
export async function writeLicenses(files) {
  const directories = [...new Set(files.map(packageOf).filter(Boolean))].sort();
  const sections = await Promise.all(directories.map(section));
  await writeFile(join(here, 'LICENSES.txt'), [HEAD, ...sections].join('\n'));
}
