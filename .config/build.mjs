// Bundles src/ and the libraries it uses into dist/: the program's entry main.cjs, and chunks that load when a command
// needs them; in library/ the package's entries for applications, whose types types.mjs adds; and in inspect/ the page of
// `leads inspect`.
import { mkdir, readdir, rm } from 'node:fs/promises';
import { relative } from 'node:path';
import { bundled } from './bundle.mjs';
import { leaveOut, loadOnFirstUse, ownGlobals } from './bundler-plugins.mjs';
import { libraryEntries, libraryFolder, root } from './library.mjs';
import { licencesOf } from './licences.mjs';
import { bundledPage, pageFolder } from './page.mjs';
import { writeWhole } from './write-whole.mjs';

const dist = `${root}dist/`;

/**
 * What is loaded together stands in one file, with all that it imports: each file costs every start 0.15 ms. Without
 * these, each module that two commands share would be a file of its own.
 */
const loadedTogether = groups([
  // With what the entry itself imports, or the entry would need the files below.
  { name: 'program', modules: ['program', 'errors', 'time/clock', 'output/terminal/terminal-width'] },
  // What completion needs of them, without commander.
  {
    name: 'flags',
    modules: [
      'commands/flags/(command-spec|shared-flags)',
      'config/(setting-keys|directories)',
      'service/listing/completion',
    ],
  },
  { name: 'command', modules: ['parse-argv', 'context'] },
  {
    name: 'pull',
    modules: [
      'config/load-settings',
      'service/(listing/listing|client/service)',
      'commands/flags/(resolve-filter|polling)',
      'output/(records/(record-writer|json-members)|table|terminal/.*)',
      'lead/(filter|created-at)',
    ],
  },
]);

/** The same for what applications import: an ES module costs more than that. */
const importedTogether = groups([
  { name: 'errors', modules: ['errors', 'library/webhook/parsed-body-error'] },
  // What the client needs too.
  { name: 'basics', modules: ['secret', 'time/clock', 'json/(exact|bytes)', 'webhook/scheme-options'] },
  { name: 'shared-secret-schemes', modules: ['library/webhook/make-verifier'] },
  { name: 'all-schemes', modules: ['library/webhook/defined-scheme', 'library/receiver/checked-options'] },
]);

// npm installs them: libsql is a native module with a binary for the user's platform, and the others are for few users.
const external = ['libsql', 'jq-web', 'postgres'];

const program = await bundled(
  'src/entry.ts',
  { external, plugins: [leaveOut, loadOnFirstUse] },
  {
    // On node 20 an ES module entry takes 3 ms more to start.
    format: 'cjs',
    entryFileNames: 'main.cjs',
    chunkFileNames: '[name]-[hash].cjs',
    codeSplitting: { groups: loadedTogether },
  },
);
const library = await bundled(
  libraryEntries,
  { external, plugins: [leaveOut, loadOnFirstUse, ownGlobals] },
  {
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: `${libraryFolder}[name]-[hash].js`,
    codeSplitting: { groups: importedTogether },
  },
);

const page = await bundledPage();

const chunks = [...program, ...library];
const licences = await licencesOf([...chunks.flatMap((chunk) => chunk.moduleIds), ...page.moduleIds]);
const files = new Map(chunks.map((chunk) => [chunk.fileName, chunk]));
for (const [name, text] of page.files) files.set(name, { code: text, isEntry: false });
files.set('THIRD-PARTY-LICENSES.txt', { code: licences, isEntry: false });

// The program may run during a build. A chunk's name changes with its content, so no chunk that a running program has
// yet to load is overwritten. Entries are written after the chunks that they name, and old files are removed last.
for (const folder of [libraryFolder, pageFolder]) await mkdir(dist + folder, { recursive: true });
for (const isEntry of [false, true]) {
  for (const [name, file] of files) if (file.isEntry === isEntry) await writeWhole(dist + name, file.code);
}
for (const item of await readdir(dist, { recursive: true, withFileTypes: true })) {
  const path = `${item.parentPath}/${item.name}`;
  const isOurs = item.isFile() && !/\.(d\.ts|1)$/.test(item.name);
  if (isOurs && !files.has(relative(dist, path))) await rm(path, { force: true });
}

/** The first ones take what they need before the others. */
function groups(all) {
  return all.map(({ name, modules }, i, { length }) => ({
    name,
    test: new RegExp(`[\\\\/]src[\\\\/](${modules.join('|')})\\.ts$`),
    priority: length - i,
  }));
}
