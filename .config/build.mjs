// Bundles src/ and the libraries it uses into dist/: the entry main.cjs, and chunks that load when a command needs them.
import { mkdir, readFile, readdir, rm } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { leaveOut, loadOnFirstUse } from './bundler-plugins.mjs';
import { licencesOf } from './licences.mjs';
import { writeWhole } from './write-whole.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const dist = `${root}dist/`;
const entry = 'main.cjs';
const { version } = JSON.parse(await readFile(`${root}package.json`, 'utf8'));

/**
 * What is loaded together stands in one file, with all that it imports: each file costs every start 0.15 ms. Without
 * these, each module that two commands share would be a file of its own.
 */
const loadedTogether = [
  // With what the entry itself imports, or the entry would need the files below.
  { name: 'program', modules: ['program', 'errors', 'time/clock', 'output/terminal/terminal-width'] },
  { name: 'command', modules: ['run-command', 'commands/flags/(command-spec|filter-flags|format-flags)'] },
  {
    name: 'pull',
    modules: [
      'config/load-settings',
      'service/(listing/listing|client/service)',
      'commands/flags/(resolve-filter|filter-notes)',
      'output/(records/(record-writer|field-paths|json-members)|table/(table|short-times|relative-time)|terminal/.*)',
      'lead/(filter|field-presence|oldest-first)',
    ],
  },
].map(({ name, modules }, i, { length }) => ({
  name,
  test: new RegExp(`[\\\\/]src[\\\\/](${modules.join('|')})\\.ts$`),
  priority: length - i,
}));

const bundle = await rolldown({
  cwd: root,
  input: 'src/entry.ts',
  platform: 'node',
  // npm installs them: libsql is a native module with a binary for the user's platform, postgres is for few users.
  external: ['libsql', 'postgres'],
  plugins: [leaveOut, loadOnFirstUse],
  transform: { target: 'node20.19', define: { LEADS_VERSION: JSON.stringify(version) } },
});
const { output } = await bundle.generate({
  // On node 20 an ES module entry takes 3 ms more to start.
  format: 'cjs',
  entryFileNames: entry,
  chunkFileNames: '[name]-[hash].cjs',
  codeSplitting: { groups: loadedTogether },
  comments: false,
  minify: { compress: true, mangle: false, codegen: { removeWhitespace: true } },
});
await bundle.close();

const files = new Map(output.map((chunk) => [chunk.fileName, chunk.code]));
files.set('THIRD-PARTY-LICENSES.txt', await licencesOf(output.flatMap((chunk) => chunk.moduleIds)));

// The program may run during a build. A chunk's name changes with its content, so no chunk that a running program has
// yet to load is overwritten. The entry is written after the chunks that it names, and old files are removed last.
await mkdir(dist, { recursive: true });
for (const [name, text] of files) if (name !== entry) await writeWhole(dist + name, text);
await writeWhole(dist + entry, files.get(entry));
for (const name of await readdir(dist)) if (!files.has(name)) await rm(dist + name, { force: true });
