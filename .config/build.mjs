// One esbuild run splits the program into lazily loaded chunks. esbuild splits ES modules only, and on node 20
// an ES module entry costs 3 ms more to start than a CommonJS one, so the chunks are then rewritten as CommonJS.
import { readFileSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { build, transform } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));
const { version } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'));

/** Parts of libraries that no command can reach: loading them would cost every start. */
const unused = /^(ajv|ajv-formats|ajv-formats\/.*|@colors\/colors\/safe)$/;
/** undici's fetch, HTTP/2 and non-SIMD parser, and the cookies and form data they bring. */
const unusedInUndici = /(client-h2|web\/(fetch|webidl|infra|cookies)\/.*|llhttp-wasm)(\.js)?$/;

const leaveOut = {
  name: 'leave-out',
  setup(bundle) {
    const empty = (path) => ({ path, namespace: 'left-out' });
    bundle.onResolve({ filter: unused }, (found) => empty(found.path));
    bundle.onResolve({ filter: unusedInUndici }, (found) =>
      /[\\/]undici[\\/]/.test(found.importer) ? empty(found.path) : undefined,
    );
    bundle.onLoad({ filter: /.*/, namespace: 'left-out' }, () => ({
      contents: 'module.exports = class {}; module.exports.default = class {};',
    }));
  },
};

const result = await build({
  absWorkingDir: root,
  entryPoints: { main: 'src/entry.ts' },
  outdir: 'dist',
  outExtension: { '.js': '.cjs' },
  chunkNames: '[name]-[hash]',
  bundle: true,
  splitting: true,
  write: false,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  charset: 'utf8',
  legalComments: 'none',
  logLevel: 'warning',
  external: ['libsql'],
  define: { LEADS_VERSION: JSON.stringify(version), 'import.meta.url': 'undefined' },
  plugins: [leaveOut],
});

await rm(`${root}dist`, { recursive: true, force: true });
await mkdir(`${root}dist`, { recursive: true });
for (const file of result.outputFiles) {
  const { code } = await transform(file.text, {
    format: 'cjs',
    platform: 'node',
    target: 'node20.19',
    charset: 'utf8',
    supported: { 'dynamic-import': false },
    minifyWhitespace: true,
  });
  await writeFile(file.path, code);
}
