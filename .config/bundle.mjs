import { readdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { rolldown } from 'rolldown';
import { root, version } from './library.mjs';

// Names stay, since errors are named by their classes and stack traces are read by people.
const minify = { compress: true, mangle: false, codegen: { removeWhitespace: true } };

const undici = dirname(createRequire(import.meta.url).resolve('undici/package.json'));

/** Parts of libraries that the program never reaches: the bundler puts an empty module in the place of each. */
const leftOut = [
  // conf checks values with it when it is given a schema; the program checks them itself.
  'ajv/dist/2020.js',
  'ajv-formats',
  // cli-table3 colours borders with it; the tables of the program have no colour.
  '@colors/colors/safe',
  // HTTP/2, bodies of fetch, and the parser for processors without SIMD.
  join(undici, 'lib/dispatcher/client-h2.js'),
  join(undici, 'lib/web/fetch/body.js'),
  join(undici, 'lib/llhttp/llhttp-wasm.js'),
];

/**
 * Returns the files that rolldown makes of these entries. `define` replaces names by constants, which are source text;
 * `inject` replaces names by exports of modules.
 */
export async function bundled(
  entries,
  { plugins, external = [], target = 'node20.19', define = {}, inject = {} },
  output,
) {
  const bundle = await rolldown({
    cwd: root,
    platform: 'node',
    input: entries,
    plugins,
    external,
    // The bundler warns of a module that one entry loads late and another one at once, but it is still late for the first.
    checks: { ineffectiveDynamicImport: false },
    resolve: { alias: Object.fromEntries(leftOut.map((name) => [name, false])) },
    onLog(level, log, report) {
      // A module that is not found must fail the build: the bundle would look for it on the user's machine.
      report(log.code === 'UNRESOLVED_IMPORT' ? 'error' : level, log);
    },
    transform: {
      target,
      inject,
      define: {
        LEADS_VERSION: JSON.stringify(version),
        LEADS_SINGLE_FILE: 'false',
        LEADS_PAGE_FOLDER: JSON.stringify('./inspect/'),
        ...define,
      },
    },
  });
  const { output: made } = await bundle.generate({ ...output, comments: false, minify });
  await bundle.close();
  return made;
}

/** Name, version and licence text of every package that one of these files comes from, sorted by name. */
export async function licencesOf(paths) {
  const folders = new Set(paths.map(packageFolder).filter((folder) => folder !== undefined));
  const texts = await Promise.all([...folders].map(licenceOf));
  return `${texts.sort().join(`\n\n${'-'.repeat(80)}\n\n`)}\n`;
}

/** Returns undefined for a module that the bundler makes itself: its name begins with NUL. */
const packageFolder = (id) => /^[^\0]*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+[\\/]/.exec(id)?.[0];

/** Throws when the package has no licence file, since it may not be distributed without one. */
async function licenceOf(folder) {
  const { name, version, license } = JSON.parse(await readFile(`${folder}package.json`, 'utf8'));
  const files = (await readdir(folder)).filter((file) => /^(licen[cs]e|copying|notice)/i.test(file));
  // The Unlicense gives up all rights: a package may leave its text out, and some do.
  if (files.length === 0 && license !== 'Unlicense')
    throw new Error(`${name} ${version} is bundled but has no licence file`);
  const texts = await Promise.all(files.sort().map((file) => readFile(folder + file, 'utf8')));
  return [`${name} ${version} (${license})`, ...texts.map((text) => text.trim())].join('\n\n');
}
