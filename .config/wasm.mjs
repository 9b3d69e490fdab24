// Compiles the scanner's AssemblyScript to a module of text, which every tool that reads TypeScript can bundle.
import { readFile, rename, stat, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('../src/lead/wasm/', import.meta.url));
const source = `${folder}scan.ts`;
const target = `${folder}scan.wasm.ts`;

if (await isStale()) {
  // Loading the compiler takes a second.
  const { default: compiler } = await import('assemblyscript/asc');
  const flags = '-O3 --noAssert --enable simd --runtime stub --use abort= --outFile scan.wasm'.split(' ');
  let wasm = new Uint8Array();
  const { error, stderr } = await compiler.main(['scan.ts', ...flags], {
    readFile: (name) => (name === 'scan.ts' ? readFile(source, 'utf8') : null),
    writeFile: (_, contents) => void (wasm = contents),
    listFiles: () => [],
  });
  if (error !== null) throw new Error(stderr.toString(), { cause: error });
  const text = Buffer.from(wasm).toString('base64');
  // Whole under a name of its own first: another build may be reading it.
  const draft = `${target}.${process.pid}`;
  await writeFile(draft, `// Made of scan.ts by .config/wasm.mjs.\nexport const scanWasm =\n  '${text}';\n`);
  await rename(draft, target);
}

async function isStale() {
  const times = [source, fileURLToPath(import.meta.url), target].map((path) =>
    stat(path).then(
      (s) => s.mtimeMs,
      () => 0,
    ),
  );
  const [written, how, made] = await Promise.all(times);
  return made <= Math.max(written, how);
}
