// Bundles the page of `leads inspect` (src/inspect/web/) into the files that its server sends as they are.
import { readFile } from 'node:fs/promises';
import { rolldown } from 'rolldown';
import { root } from './library.mjs';

/** The tsconfig.json of this folder names the function that JSX calls. */
const web = `${root}src/inspect/web/`;
export const pageFolder = 'inspect/';

/** Returns the texts of the files by their names below dist/, and the ids of the modules in them, for their licences. */
export async function bundledPage() {
  const bundle = await rolldown({
    cwd: root,
    platform: 'browser',
    input: { app: `${web}main.tsx` },
    transform: { target: 'es2022', jsx: { runtime: 'automatic', development: false } },
  });
  const { output } = await bundle.generate({ format: 'esm', entryFileNames: '[name].js', minify: true });
  await bundle.close();
  if (output.length !== 1) throw new Error(`the page has ${output.length} scripts instead of one`);
  const [{ code, moduleIds }] = output;
  const files = new Map([
    ['index.html', await readFile(`${web}index.html`, 'utf8')],
    ['app.js', code],
    ['style.css', minified(await styleSheet('style.css'))],
    ['icon.svg', await readFile(`${web}icon.svg`, 'utf8')],
  ]);
  return { files: new Map([...files].map(([name, text]) => [pageFolder + name, text])), moduleIds };
}

/** Returns a style sheet in which each import is replaced by the style sheet that it names. */
async function styleSheet(name) {
  const text = await readFile(web + name, 'utf8');
  const parts = text.split(/^@import '\.\/(.*)';$/m);
  const texts = await Promise.all(parts.map((part, i) => (i % 2 === 1 ? styleSheet(part) : part)));
  return texts.join('');
}

/** Removes comments and white space; the strings in the page's style sheets contain neither. */
function minified(css) {
  return css
    .replace(/\/\*[^]*?\*\//g, '')
    .replace(/\s+/g, ' ')
    .replace(/ ?([{};,]) ?/g, '$1')
    .trim();
}
