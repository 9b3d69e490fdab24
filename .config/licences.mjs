import { readFile, readdir } from 'node:fs/promises';

/** Name, version and licence text of every package that one of these files comes from, sorted by name. */
export async function licencesOf(paths) {
  const folders = new Set(paths.map(packageFolder).filter((folder) => folder !== undefined));
  const texts = await Promise.all([...folders].map(licenceOf));
  return `${texts.sort().join(`\n\n${'-'.repeat(80)}\n\n`)}\n`;
}

/** Returns undefined for a module that the bundler makes itself: its name begins with NUL. */
const packageFolder = (id) => /^[^\0]*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+[\\/]/.exec(id)?.[0];

/** Throws when the package has no licence file, since it may not be distributed without one. */
async function licenceOf(folder) {
  const { name, version, license } = JSON.parse(await readFile(`${folder}package.json`, 'utf8'));
  const files = (await readdir(folder)).filter((file) => /^(licen[cs]e|copying|notice)/i.test(file));
  // The Unlicense gives up all rights: a package may leave its text out, and some do.
  if (files.length === 0 && license !== 'Unlicense')
    throw new Error(`${name} ${version} is bundled but has no licence file`);
  const texts = await Promise.all(files.sort().map((file) => readFile(folder + file, 'utf8')));
  return [`${name} ${version} (${license})`, ...texts.map((text) => text.trim())].join('\n\n');
}
