// Bundles src/ and the libraries it uses into dist/: the program's entry main.cjs, and chunks that load when a command
// needs them; in library/ the package's entries for applications, whose types types.mjs adds; and in inspect/ the page of
// `leads inspect`.
import { bundled, licencesOf } from './bundle.mjs';
import { builtinsFromProcess, loadOnFirstUse } from './bundler-plugins.mjs';
import { libraryEntries, libraryFolder, root } from './library.mjs';
import { bundledPage } from './page.mjs';
import { writeFiles } from './write-files.mjs';

/**
 * Modules that are loaded together are bundled into one file with everything that they import, because each file costs
 * every start 0.15 ms; otherwise each module that two commands share would be a file of its own. The keys are the names of
 * the files. A module that several of them need goes into the first.
 */
const loadedTogether = {
  // These are the modules that the entry imports: in one of the files below, they would make every start load that file.
  program: ['program', 'errors', 'time/clock', 'output/terminal/terminal'],
  // Help needs these modules, and does without commander.
  flags: [
    'commands/flags/command-spec',
    'commands/flags/shared-flags',
    'config/setting-keys',
    'config/directories',
    'commands/help/command-help',
    'service/listing-types',
    // `delivery` and `pull` import this module: in `delivery`, it would make every `pull` load that file.
    'lead/raw-lead',
  ],
  delivery: ['commands/flags/delivery-flags', 'webhook/vendor-presets'],
  // A short command and an error print with these modules. Neither needs `pull`.
  command: ['parse-argv', 'context', 'output/stdout', 'output/terminal/progress'],
  pull: [
    'config/load-settings',
    'config/read-config',
    'service/listing',
    'service/client/service',
    'http/client/quick-client',
    'output/walk-notes',
    'commands/flags/polling',
    'output/records/record-writer',
    'output/records/json-members',
    'output/table',
    'output/terminal/*',
    'lead/filter',
  ],
};

// npm installs libsql, because it is a native module with a binary for the user's platform.
const external = ['libsql'];

const program = await bundled(
  'src/entry.ts',
  { external, plugins: [loadOnFirstUse] },
  {
    // On node 20 an ES module entry takes 3 ms more to start.
    format: 'cjs',
    entryFileNames: 'main.cjs',
    chunkFileNames: '[name]-[hash].cjs',
    // The launcher, bin/leads.js, runs the files as scripts, in which node does not support import().
    dynamicImportInCjs: false,
    codeSplitting: { groups: groups(loadedTogether) },
  },
);
// The library is built twice, since an application in CommonJS cannot load ES modules everywhere, and one in ES modules should
// not load CommonJS.
const [libraryForImport, libraryForRequire] = await Promise.all(
  [
    ['esm', '.js'],
    ['cjs', '.cjs'],
  ].map(([format, ending]) =>
    bundled(
      libraryEntries,
      {
        plugins: [builtinsFromProcess],
        inject: { globalThis: [`${root}.config/own-globals.mjs`, 'ownGlobals'] },
      },
      {
        format,
        entryFileNames: `[name]${ending}`,
        chunkFileNames: `${libraryFolder}[name]-[hash]${ending}`,
      },
    ),
  ),
);

requireModules(loadedTogether, program);

const page = await bundledPage();

const chunks = [...program, ...libraryForImport, ...libraryForRequire];
const licences = await licencesOf([...chunks.flatMap((chunk) => chunk.moduleIds), ...page.moduleIds]);
// The program may run during a build. A chunk's name changes with its content, so a chunk that a running program will load later
// is not overwritten. Entries are written after the chunks that they name.
const ordered = [...chunks.filter(({ isEntry }) => !isEntry), ...chunks.filter(({ isEntry }) => isEntry)];
const texts = new Map([
  ...page.files,
  ['THIRD-PARTY-LICENSES.txt', licences],
  ...ordered.map(({ fileName, code }) => [fileName, code]),
]);
// Types and manual pages are written by other scripts.
await writeFiles(texts, /(?<!\.d\.c?ts|\.1)$/);

function groups(files) {
  return Object.entries(files).map(([name, modules], i, { length }) => ({
    name,
    test: new RegExp(modules.map((module) => patternOf(module).source).join('|')),
    priority: length - i,
  }));
}

/** Returns a pattern for the path of a module below src/; `*` stands for each module of a folder. */
function patternOf(module) {
  const path = module.replaceAll('/', '[\\\\/]').replace('*', '[^\\\\/]+');
  return new RegExp(`[\\\\/]src[\\\\/]${path}\\.ts$`);
}

/** Throws for a named module that is in no file, because it was moved or removed. */
function requireModules(files, chunks) {
  const ids = chunks.flatMap(({ moduleIds }) => moduleIds);
  for (const [name, modules] of Object.entries(files)) {
    for (const module of modules) {
      if (ids.some((id) => patternOf(module).test(id))) continue;
      throw new Error(`src/${module}.ts, named in .config/build.mjs for the file ${name}, is in no file`);
    }
  }
}
