// Bundles the types of the package's entries into dist/library/, one file for each entry, which does not show where in src/ a
// type is declared. Each file exists twice, because the name of a declaration file tells the compiler the kind of module.
import { rolldown } from 'rolldown';
import { dts } from 'rolldown-plugin-dts';
import { libraryEntries, libraryFolder, root } from './library.mjs';
import { writeFiles } from './write-files.mjs';

const bundle = await rolldown({
  cwd: root,
  input: libraryEntries,
  platform: 'node',
  plugins: [dts({ cwd: root, emitDtsOnly: true, compilerOptions: { stripInternal: true } })],
  checks: { pluginTimings: false },
});
const { output } = await bundle.generate({
  format: 'esm',
  entryFileNames: '[name].js',
  chunkFileNames: `${libraryFolder}[name]-[hash].js`,
});
await bundle.close();
const types = new Map();
for (const { fileName, code } of output.filter(({ fileName }) => fileName.endsWith('.d.ts'))) {
  types.set(fileName, code);
  types.set(fileName.replace(/ts$/, 'cts'), code.replace(/(["']\.\/[\w-]+)\.js(?=["'])/g, '$1.cjs'));
}
await writeFiles(types, /\.d\.c?ts$/);
