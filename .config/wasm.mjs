// Compiles the scanner of leads from AssemblyScript to WebAssembly, and writes it as Base64 into a TypeScript module, which every
// tool can bundle. The module is in the repository, since the compiler is large: only this script installs it, below .cache/.
//   --check   writes nothing: fails where the module is not, byte for byte, what the source compiles to
import { execFile } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { root } from './library.mjs';

/** Another release may compile the same source to other bytes. */
const compiler = 'assemblyscript@0.28.20';
const flags = '-O3 --noAssert --enable simd --runtime stub --use abort= --outFile scan.wasm'.split(' ');
const sources = `${root}src/json/wasm/`;
const target = `${root}src/json/scan.wasm.ts`;

if (process.argv[2] !== '--check') await writeFile(target, await compiled());
else if ((await readFile(target, 'utf8')) !== (await compiled()))
  throw new Error(`${target} was not compiled from the source beside it: node .config/wasm.mjs`);

async function compiled() {
  const place = `${root}.cache/assemblyscript`;
  await mkdir(place, { recursive: true });
  const args = ['install', '--loglevel=error', '--no-save', '--prefix', place, compiler];
  // npm is a script on Windows, which only a shell starts.
  await promisify(execFile)('npm', args, { shell: process.platform === 'win32' });
  const path = '../.cache/assemblyscript/node_modules/assemblyscript/dist/asc.js';
  const { default: asc } = await import(new URL(path, import.meta.url));
  let wasm = new Uint8Array();
  const { error, stderr } = await asc.main(['scan.ts', ...flags], {
    readFile: (name) => readFile(`${sources}${name}`, 'utf8').catch(() => null),
    writeFile: (_, contents) => void (wasm = contents),
    listFiles: () => [],
  });
  if (error !== null) throw new Error(stderr.toString(), { cause: error });
  return `// Made of wasm/ by .config/wasm.mjs.\nexport const scanWasm =\n  '${Buffer.from(wasm).toString('base64')}';\n`;
}
