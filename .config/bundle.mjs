import { rolldown } from 'rolldown';
import { root, version } from './library.mjs';

// Names stay, since errors are named by their classes and stack traces are read by people.
const minify = { compress: true, mangle: false, codegen: { removeWhitespace: true } };

/** The files that rolldown makes of these entries. `define`: names that stand for constants, as source text. */
export async function bundled(
  entries,
  { plugins, external = [], target = 'node20.19', define = {} },
  output,
) {
  const bundle = await rolldown({
    cwd: root,
    platform: 'node',
    input: entries,
    plugins,
    external,
    transform: {
      target,
      define: {
        LEADS_VERSION: JSON.stringify(version),
        LEADS_SINGLE_FILE: 'false',
        LEADS_PAGE_FOLDER: JSON.stringify('./inspect/'),
        ...define,
      },
    },
  });
  const { output: made } = await bundle.generate({ ...output, comments: false, minify });
  await bundle.close();
  return made;
}
