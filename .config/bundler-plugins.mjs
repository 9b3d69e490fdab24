// Plugins that load modules of node late, because loading them would slow down every start. The bundler has no option for
// this: it requires every module from outside of the bundle at the top of each file. Each plugin replaces such a module by one
// of its own, whose id begins with NUL as the bundler asks of ids that are no paths, and writes the code of that module.
import { isBuiltin } from 'node:module';

/** Builtins that take one to three milliseconds to load and that most runs do not use. */
const slowBuiltins = /^(?:node:)?(child_process|crypto|fs\/promises|https|zlib)$/;
const late = '\0late:';

/** Loads a slow builtin when the first of its exports is used. */
export const loadOnFirstUse = {
  name: 'load-on-first-use',
  resolveId(id, importer = '') {
    const name = slowBuiltins.exec(id)?.[1];
    if (name === undefined) return null;
    return importer.startsWith(late) ? { id: `node:${name}`, external: true } : `${late}node:${name}`;
  },
  load(id) {
    if (!id.startsWith(late)) return null;
    const builtin = id.slice(late.length);
    return lateExports(`require('${builtin}')`);
  },
};

/**
 * Returns a module that requires its exports when the first of them is used. The code that the bundler adds asks for
 * `__esModule` at once, and looks for exports in the prototype last. The result of `require` is kept, because each call
 * resolves the name again.
 */
const lateExports = (required) => `let loaded;
const get = (_, name) => name === '__esModule' ? undefined : (loaded ??= ${required})[name];
module.exports = Object.create(new Proxy({}, { get }));`;

const fromProcess = '\0from-process:';

/**
 * The library gets modules of node from the process: `require` in an ES module needs `import.meta.url`, which is undefined
 * where an application is bundled to CommonJS. Slow builtins are loaded when their first export is used.
 */
export const builtinsFromProcess = {
  name: 'builtins-from-process',
  resolveId(id, importer = '', { kind }) {
    if (!isBuiltin(id)) return null;
    const name = id.replace(/^node:/, '');
    if (importer.startsWith(fromProcess)) return null;
    return slowBuiltins.test(id) || kind === 'require-call' ? fromProcess + name : null;
  },
  load(id) {
    if (!id.startsWith(fromProcess)) return null;
    const name = id.slice(fromProcess.length);
    const required = `process.getBuiltinModule('node:${name}')`;
    return slowBuiltins.test(name) ? lateExports(required) : `module.exports = ${required};`;
  },
};

const withImporter = '\0with-importer:';

/**
 * Loads a builtin together with the module that imports it. In a bundle of one file, every module from outside would
 * otherwise be loaded at every start.
 */
export const loadWithImporter = {
  name: 'load-with-importer',
  resolveId(id, importer = '', { kind }) {
    if (kind !== 'import-statement' || !isBuiltin(id) || importer.startsWith(withImporter)) return null;
    return withImporter + id;
  },
  load: (id) =>
    id.startsWith(withImporter) ? `module.exports = require('${id.slice(withImporter.length)}');` : null,
};
