// Writes binary/leads: one executable file for the platform that this runs on, with node and everything else in it. The parts
// are written below .cache/: the bundle, the native add-on with its digest, the page and the licences. node --build-sea then
// puts them into a copy of node.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { bundled, licencesOf } from '../bundle.mjs';
import { loadOnFirstUse, loadWithImporter } from '../bundler-plugins.mjs';
import { root } from '../library.mjs';
import { bundledPage, pageFolder } from '../page.mjs';
import { embeddedAddon } from './embedded-addon.mjs';
import { installNode } from './node-package.mjs';

const run = promisify(execFile);
const outputFolder = `${root}binary/`;
const partsFolder = `${root}.cache/binary/`;

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
const ownLicence = await readFile(`${root}LICENSE`, 'utf8');
const licences = `${ownLicence}\n${await licencesOf([...moduleIds, ...page.moduleIds, node.program])}`;
const digest = createHash('sha256')
  .update(await readFile(addon))
  .digest('hex');

await mkdir(outputFolder, { recursive: true });
await mkdir(partsFolder + pageFolder, { recursive: true });
const partTexts = {
  'leads.cjs': code,
  'addon.sha256': digest,
  'licences.txt': licences,
  ...Object.fromEntries(page.files),
};
for (const [name, text] of Object.entries(partTexts)) await writeFile(partsFolder + name, text);

const output = `${outputFolder}leads${process.platform === 'win32' ? '.exe' : ''}`;
const draft = `${partsFolder}${process.pid}.draft`;
const config = {
  main: 'leads.cjs',
  output: draft,
  executable: node.program,
  disableExperimentalSEAWarning: true,
  useCodeCache: true,
  assets: {
    'addon.node': addon,
    'addon.sha256': `${partsFolder}addon.sha256`,
    'licences.txt': `${partsFolder}licences.txt`,
    ...Object.fromEntries([...page.files.keys()].map((name) => [name, partsFolder + name])),
  },
};
await writeFile(`${partsFolder}config.json`, JSON.stringify(config));
try {
  // The file holds compiled code and the path of its source: with these, the same bytes are made everywhere.
  await run(node.program, ['--random-seed=1', '--build-sea', 'config.json'], { cwd: partsFolder });
  // The signature of node is not valid for the changed file, and macOS starts no program without a signature.
  if (process.platform === 'darwin') await run('codesign', ['--force', '--sign', '-', draft]);
  await rename(draft, output);
} finally {
  await rm(draft, { force: true });
}
await writeFile(`${outputFolder}THIRD-PARTY-LICENSES.txt`, licences);
console.log(`${output}, with node ${node.version}`);
