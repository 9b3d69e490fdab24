// Writes binary/leads: one executable file for the platform that this runs on, with node and everything else in it.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { bundled } from '../bundle.mjs';
import { loadOnFirstUse, loadWithImporter } from '../bundler-plugins.mjs';
import { root } from '../library.mjs';
import { licencesOf } from '../licences.mjs';
import { bundledPage, pageFolder } from '../page.mjs';
import { embeddedAddon } from './embedded-addon.mjs';
import { installNode } from './node-package.mjs';

const run = promisify(execFile);
const place = `${root}binary/`;
const parts = `${root}.cache/binary/`;

const node = await installNode().catch((error) => {
  console.error(`error: ${error.message}`);
  process.exit(1);
});
const { addon, plugin } = embeddedAddon();

const chunks = await bundled(
  'src/entry.ts',
  {
    plugins: [plugin, loadOnFirstUse, loadWithImporter],
    target: 'node26',
    define: { LEADS_SINGLE_FILE: 'true', 'process.env.LIBSQL_JS_DEV': 'true' },
  },
  { format: 'cjs', codeSplitting: false },
);
if (chunks.length !== 1) throw new Error(`the bundle has ${chunks.length} files instead of one`);
const [{ code, moduleIds }] = chunks;
const page = await bundledPage();
const own = await readFile(`${root}LICENSE`, 'utf8');
const licences = `${own}\n${await licencesOf([...moduleIds, ...page.moduleIds, node.program])}`;
const digest = createHash('sha256')
  .update(await readFile(addon))
  .digest('hex');

await mkdir(place, { recursive: true });
await mkdir(parts + pageFolder, { recursive: true });
const made = {
  'leads.cjs': code,
  'addon.sha256': digest,
  'licences.txt': licences,
  ...Object.fromEntries(page.files),
};
for (const [name, text] of Object.entries(made)) await writeFile(parts + name, text);

const output = `${place}leads${process.platform === 'win32' ? '.exe' : ''}`;
const draft = `${parts}${process.pid}.draft`;
const config = {
  main: `${parts}leads.cjs`,
  output: draft,
  executable: node.program,
  disableExperimentalSEAWarning: true,
  useCodeCache: true,
  assets: {
    'addon.node': addon,
    'addon.sha256': `${parts}addon.sha256`,
    'licences.txt': `${parts}licences.txt`,
    ...Object.fromEntries([...page.files.keys()].map((name) => [name, parts + name])),
  },
};
await writeFile(`${parts}config.json`, JSON.stringify(config));
try {
  await run(node.program, ['--build-sea', `${parts}config.json`]);
  // Changed, the program has no valid signature any more, and macOS starts none without.
  if (process.platform === 'darwin') await run('codesign', ['--force', '--sign', '-', draft]);
  await rename(draft, output);
} finally {
  await rm(draft, { force: true });
}
await writeFile(`${place}THIRD-PARTY-LICENSES.txt`, licences);
console.log(`${output}, with node ${node.version}`);
