// Bundles src/ and the libraries it uses into dist/: the entry main.cjs, and chunks that load when a command needs them.
import { mkdir, readFile, readdir, rm } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { leaveOut, loadOnFirstUse } from './bundler-plugins.mjs';
import { licencesOf } from './licences.mjs';
import { writeWhole } from './write-whole.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const dist = `${root}dist/`;
const { version } = JSON.parse(await readFile(`${root}package.json`, 'utf8'));

const bundle = await rolldown({
  cwd: root,
  input: { main: 'src/entry.ts' },
  platform: 'node',
  // It has a binary for every platform, and installs the right one.
  external: ['libsql'],
  plugins: [leaveOut, loadOnFirstUse],
  transform: { target: 'node20.19', define: { LEADS_VERSION: JSON.stringify(version) } },
});
const { output } = await bundle.generate({
  // On node 20 an ES module entry takes 3 ms more to start.
  format: 'cjs',
  entryFileNames: '[name].cjs',
  chunkFileNames: '[name]-[hash].cjs',
  comments: false,
  minify: { compress: true, mangle: false, codegen: { removeWhitespace: true } },
});
await bundle.close();

// The program may run during a build. Chunk names change with their content, so the running program still finds its
// own chunks: new files come first, then the entry that names them, and old files are removed last.
const files = new Map(output.map((chunk) => [chunk.fileName, chunk.code]));
files.set('THIRD-PARTY-LICENSES.txt', await licencesOf(output.flatMap((chunk) => chunk.moduleIds)));
await mkdir(dist, { recursive: true });
const names = [...files.keys()].sort((a, b) => Number(a === 'main.cjs') - Number(b === 'main.cjs'));
for (const name of names) await writeWhole(dist + name, files.get(name));
for (const name of await readdir(dist)) if (!files.has(name)) await rm(dist + name, { force: true });
