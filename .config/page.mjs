// Bundles the page of `leads inspect` (src/inspect/web/) into the files that its server sends as they are.
import { build } from 'vite';
import { root } from './library.mjs';

export const pageFolder = 'inspect/';

/** Returns the texts of the files by their names below dist/, and the ids of the modules in them, for their licences. */
export async function bundledPage() {
  const web = `${root}src/inspect/web/`;
  const { output } = await build({
    root: web,
    base: './',
    configFile: false,
    logLevel: 'warn',
    // Tests build the page too, and without this vite would build it for development there.
    oxc: { jsx: { development: false } },
    build: {
      write: false,
      target: 'es2022',
      // Browsers that know light-dark(), which the style sheet uses.
      cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
      modulePreload: false,
      // The content security policy of the page takes files of its server alone.
      assetsInlineLimit: 0,
      rolldownOptions: {
        input: { app: `${web}index.html` },
        output: { entryFileNames: '[name].js', assetFileNames: '[name][extname]' },
      },
    },
  });
  return {
    files: new Map(output.map(({ fileName, code, source }) => [pageFolder + fileName, code ?? source])),
    moduleIds: output.flatMap(({ moduleIds = [] }) => moduleIds),
  };
}
