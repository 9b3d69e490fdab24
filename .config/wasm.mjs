// Compiles the scanner from AssemblyScript to WebAssembly, and writes that as text into a TypeScript module, which every
// tool can bundle.
import { readFile, readdir, stat } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { writeWhole } from './write-whole.mjs';

const folder = fileURLToPath(new URL('../src/json/', import.meta.url));
const target = `${folder}scan.wasm.ts`;
const sources = `${folder}wasm/`;
const inputs = [
  ...(await readdir(sources)).map((name) => `${sources}${name}`),
  fileURLToPath(import.meta.url),
];
const newest = Math.max(...(await Promise.all(inputs.map(changedAt))));

// Only when something changed, because the compiler alone takes a second to load.
if ((await changedAt(target).catch(() => 0)) <= newest) {
  const { default: compiler } = await import('assemblyscript/asc');
  const flags = '-O3 --noAssert --enable simd --runtime stub --use abort= --outFile scan.wasm'.split(' ');
  let wasm = new Uint8Array();
  const { error, stderr } = await compiler.main(['scan.ts', ...flags], {
    readFile: (name) => readFile(`${sources}${name}`, 'utf8').catch(() => null),
    writeFile: (_, contents) => void (wasm = contents),
    listFiles: () => [],
  });
  if (error !== null) throw new Error(stderr.toString(), { cause: error });
  const text = Buffer.from(wasm).toString('base64');
  await writeWhole(
    target,
    `// Generated from wasm/ by .config/wasm.mjs.\nexport const scanWasm =\n  '${text}';\n`,
  );
}

/** Milliseconds since the epoch. */
async function changedAt(path) {
  return (await stat(path)).mtimeMs;
}
