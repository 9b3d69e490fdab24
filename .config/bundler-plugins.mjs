// What the bundle leaves out or loads late, because loading it would slow every start down, and what it keeps to itself.
import { isBuiltin } from 'node:module';

/** Parts of libraries that no command reaches. */
const unused = [
  // conf checks values with it when it is given a schema; ours is checked before.
  { module: /^(ajv|ajv-formats)(\/|$)/, importer: /[\\/]conf[\\/]/ },
  // cli-table3 colours borders with it; ours have no colour.
  { module: /^@colors\/colors\/safe$/, importer: /[\\/]cli-table3[\\/]/ },
  // commander starts commands that are programs of their own with it; ours are not.
  { module: /^node:child_process$/, importer: /[\\/]commander[\\/]/ },
  // HTTP/2, fetch, and the parser for processors without SIMD.
  {
    module: /(client-h2|web\/(fetch|webidl|infra|cookies)\/.*|llhttp-wasm)(\.js)?$/,
    importer: /[\\/]undici[\\/]/,
  },
];

const empty = '\0empty';

/** Puts an empty module in the place of each unused one. A class, because some are extended while loading. */
export const leaveOut = {
  name: 'leave-out',
  resolveId(id, importer = '') {
    return unused.some((one) => one.module.test(id) && one.importer.test(importer)) ? empty : null;
  },
  load: (id) => (id === empty ? 'module.exports = class {}; module.exports.default = class {};' : null),
};

/** Builtins that take one to three milliseconds to load and that most runs do not use. */
const slowBuiltins = /^(?:node:)?(crypto|fs\/promises|zlib)$/;
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

/**
 * zod keeps settings and schemas in properties of the global object, where it would share them with the zod of the
 * application that our library runs in. Each of these modules uses a property of its own.
 */
export const ownGlobals = {
  name: 'own-globals',
  transform(code, id) {
    if (!/[\\/]zod[\\/]v4[\\/]core[\\/](core|registries)\.js$/.test(id)) return null;
    return `const ownGlobals = {};\n${code.replaceAll('globalThis', 'ownGlobals')}`;
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
