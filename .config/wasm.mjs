// Compiles the scanner's AssemblyScript to a module of text, which every tool that reads TypeScript can bundle.
import { readFile, readdir, stat } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { writeWhole } from './write-whole.mjs';

const folder = fileURLToPath(new URL('../src/json/wasm/', import.meta.url));
const target = fileURLToPath(new URL('../src/json/scan.wasm.ts', import.meta.url));
const sources = (await readdir(folder)).map((name) => `${folder}${name}`);
const newest = Math.max(...(await Promise.all([...sources, fileURLToPath(import.meta.url)].map(changedAt))));

// Loading the compiler takes a second.
if ((await changedAt(target).catch(() => 0)) <= newest) {
  const { default: compiler } = await import('assemblyscript/asc');
  const flags = '-O3 --noAssert --enable simd --runtime stub --use abort= --outFile scan.wasm'.split(' ');
  let wasm = new Uint8Array();
  const { error, stderr } = await compiler.main(['scan.ts', ...flags], {
    readFile: (name) => readFile(`${folder}${name}`, 'utf8').catch(() => null),
    writeFile: (_, contents) => void (wasm = contents),
    listFiles: () => [],
  });
  if (error !== null) throw new Error(stderr.toString(), { cause: error });
  const text = Buffer.from(wasm).toString('base64');
  await writeWhole(target, `// Made of wasm/ by .config/wasm.mjs.\nexport const scanWasm =\n  '${text}';\n`);
}

async function changedAt(path) {
  return (await stat(path)).mtimeMs;
}
