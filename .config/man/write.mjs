// Writes the manual pages into dist/man/: the program that was just built describes itself.
import { execFile } from 'node:child_process';
import { mkdir, readdir, rm } from 'node:fs/promises';
import { promisify } from 'node:util';
import { root } from '../library.mjs';
import { writeWhole } from '../write-whole.mjs';
import { manualPages } from './pages.mjs';

const place = `${root}dist/man/`;
const { SOURCE_DATE_EPOCH: seconds } = process.env;
const words = [`${root}dist/main.cjs`, 'help', '--json'];
const { stdout } = await promisify(execFile)(process.execPath, words, { maxBuffer: 2 ** 26 });
const pages = manualPages(JSON.parse(stdout), seconds === undefined ? Date.now() : seconds * 1000);
await mkdir(place, { recursive: true });
for (const [name, text] of pages) await writeWhole(place + name, text);
for (const name of await readdir(place)) if (!pages.has(name)) await rm(place + name);
