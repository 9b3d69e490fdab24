// What the bundle loads late, because loading it would slow every start down. The bundler has no option for this: it
// requires what is outside of the bundle at the top of each file.
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
    // The bundler's interop asks for `__esModule` while it loads, and looks for exports in the prototype last. Required
    // once: each call of `require` resolves the name again, which takes as long as hashing one lead.
    return `let loaded;
const get = (_, name) => name === '__esModule' ? undefined : (loaded ??= require('${builtin}'))[name];
module.exports = Object.create(new Proxy({}, { get }));`;
  },
};

const withImporter = '\0with-importer:';

/**
 * Loads each other builtin when the module that imports it is loaded. In a bundle of one file, all that is imported from
 * outside would else be loaded at every start.
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
