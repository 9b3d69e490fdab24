// One esbuild run splits the program into lazily loaded chunks. esbuild splits ES modules only, and on node 20
// an ES module entry costs 3 ms more to start than a CommonJS one, so the chunks are then rewritten as CommonJS.
import { readFileSync } from 'node:fs';
import { mkdir, readdir, rm } from 'node:fs/promises';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, transform } from 'esbuild';
import { writeWhole } from './write-whole.mjs';

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
    // commander loads it for commands that are programs of their own; ours are not.
    bundle.onResolve({ filter: /^node:child_process$/ }, (found) =>
      /[\\/]commander[\\/]/.test(found.importer) ? empty(found.path) : undefined,
    );
    bundle.onLoad({ filter: /.*/, namespace: 'left-out' }, () => ({
      contents: 'module.exports = class {}; module.exports.default = class {};',
    }));
  },
};

/** Builtins that take milliseconds to load and that most runs never touch: loaded when something of theirs is used. */
const slowBuiltins =
  /^(?:node:)?(child_process|crypto|fs\/promises|http|http2|https|tls|v8|zlib|dns|worker_threads|readline)$/;

const loadLate = {
  name: 'load-late',
  setup(bundle) {
    bundle.onResolve({ filter: slowBuiltins }, (found) => {
      const path = `node:${slowBuiltins.exec(found.path)[1]}`;
      return found.namespace === 'late' ? { path, external: true } : { path, namespace: 'late' };
    });
    // It takes a class out of node:http while it loads, and needs it for one comparison.
    bundle.onLoad({ filter: /undici[\\/]lib[\\/]core[\\/]util\.js$/ }, ({ path }) => ({
      contents: readFileSync(path, 'utf8')
        .replace("const { IncomingMessage } = require('node:http')", '')
        .replace('constructor === IncomingMessage', "constructor === require('node:http').IncomingMessage"),
      loader: 'js',
    }));
    bundle.onLoad({ filter: /.*/, namespace: 'late' }, async ({ path }) => {
      const names = Object.keys(await import(path)).filter((name) => name !== 'default');
      // undici asks for it while it loads; node's default.
      const known = { maxHeaderSize: 16384 };
      // Asked for once: every `require` looks its module up again, which takes as long as a hash of a lead.
      const getters = names.map((name) =>
        name in known
          ? `${name}: ${known[name]}`
          : `get ${name}() { return (it ??= require('${path}')).${name}; }`,
      );
      return { contents: `let it;\nmodule.exports = {\n${getters.join(',\n')}\n};` };
    });
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
  plugins: [leaveOut, loadLate],
});

// Chunks are named for their content, so a program that runs meanwhile still finds its own: each file is put in its
// place whole, and what is left over goes last.
const dist = `${root}dist`;
await mkdir(dist, { recursive: true });
for (const file of result.outputFiles) {
  const { code } = await transform(asCommonJs(file.text), {
    platform: 'node',
    target: 'node20.19',
    charset: 'utf8',
    minifyWhitespace: true,
  });
  await writeWhole(file.path, code);
}
const built = new Set(result.outputFiles.map((file) => basename(file.path)));
for (const name of await readdir(dist)) if (!built.has(name)) await rm(`${dist}/${name}`, { force: true });

/**
 * esbuild's own rewriting keeps bindings live by two getters a name, which a loop over bytes pays for at every byte, and
 * the start for every name. Chunks neither import in circles nor change what they export, so constants will do.
 */
function asCommonJs(esm) {
  const clauses = (list) => list.replace(/([$\w]+) as ([$\w]+)/g, '$1: $2');
  const commonJs = esm
    .replace(
      /^import \{([^}]*)\} from (".*");$/gm,
      (_, list, from) => `const {${clauses(list)}} = require(${from});`,
    )
    .replace(/^import (?:\* as )?([$\w]+) from (".*");$/gm, 'const $1 = require($2);')
    .replace(
      /^import ([$\w]+), \{([^}]*)\} from (".*");$/gm,
      (_, name, list, from) => `const ${name} = require(${from}), {${clauses(list)}} = ${name};`,
    )
    .replace(/^import (".*");$/gm, 'require($1);')
    .replace(/^export \{([^}]*)\};$/gm, (_, list) =>
      list
        .split(',')
        .map((one) => one.trim().split(' as '))
        .map(([local, name = local]) => `exports.${name} = ${local};`)
        .join('\n'),
    )
    .replace(/^export default /gm, 'exports.default = ')
    .replace(/\bimport\(("\..*?")\)/g, 'Promise.resolve().then(() => require($1))')
    .replace(
      /\bimport\((".*?")\)/g,
      'Promise.resolve(require($1)).then((all) => ({ ...all, default: all }))',
    );
  const left = /^(?:import|export)\b.*|\b__esm\(/m.exec(commonJs);
  if (left !== null) throw new Error(`a form of module that the build does not know: ${left[0]}`);
  return commonJs;
}
