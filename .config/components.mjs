// Prints what is in the package, or in the executable file, as a CycloneDX document: `node .config/components.mjs package`.
// Both must be built. Serial number and time come from the commit, so that the same commit gives the same document.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { embeddedAddon } from './binary/embedded-addon.mjs';
import { root } from './library.mjs';

const read = (path) => readFileSync(root + path, 'utf8');
const git = (...words) => execFileSync('git', words, { cwd: root, encoding: 'utf8' }).trim();
const { name, version, license, optionalDependencies } = JSON.parse(read('package.json'));
const { packages } = JSON.parse(read('package-lock.json'));

const what = process.argv[2];
const found = new Map();
switch (what) {
  case 'package':
    addLicensed(read('dist/THIRD-PARTY-LICENSES.txt'));
    for (const dependency of Object.keys(optionalDependencies)) addInstalled(dependency, '', 'optional');
    break;
  case 'executable':
    addLicensed(read('.cache/binary/licences.txt'));
    // Of libsql's packages it has the add-on of one platform, beside what the bundler took.
    addInstalled(packageOf(embeddedAddon().addon), '', 'required');
    break;
  default:
    throw new Error(`'package' or 'executable', not '${what}'`);
}

const commit = git('rev-parse', 'HEAD');
const subject = { type: 'application', ...identity(name, version, license) };
const components = [...found.values()].sort((a, b) => (a.purl < b.purl ? -1 : 1));
const document = {
  $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
  bomFormat: 'CycloneDX',
  specVersion: '1.6',
  serialNumber: `urn:uuid:${uuidOf(`${commit} ${what}`)}`,
  version: 1,
  metadata: {
    timestamp: new Date(Number(git('log', '-1', '--format=%ct')) * 1000).toISOString(),
    component: { ...subject, description: `the ${what}, at the commit ${commit}` },
  },
  components,
  dependencies: [
    { ref: subject['bom-ref'], dependsOn: components.map((component) => component['bom-ref']) },
    ...components.map((component) => ({ ref: component['bom-ref'] })),
  ],
};
process.stdout.write(`${JSON.stringify(document, null, 2)}\n`);

/** What the bundler took, by the headings of the licences that it wrote. */
function addLicensed(text) {
  for (const licence of text.split(`\n\n${'-'.repeat(80)}\n\n`)) {
    const [, packageName, packageVersion, spdx] = /^(\S+) (\d\S*) \((.+)\)$/m.exec(licence) ?? [];
    if (packageName === undefined) throw new Error(`a licence without a heading: ${licence.slice(0, 80)}`);
    add(packageName, packageVersion, spdx, 'required');
  }
}

/** What npm installs beside it, as the lockfile says: of optional ones those of every platform. */
function addInstalled(wanted, from, scope) {
  const place = [`${from}/node_modules/${wanted}`, `node_modules/${wanted}`].find((path) => path in packages);
  if (place === undefined) throw new Error(`${wanted} is not in package-lock.json`);
  const { version, license, dependencies = {}, optionalDependencies = {} } = packages[place];
  add(wanted, version, license, scope, packages[place].integrity);
  for (const next of Object.keys(dependencies)) addInstalled(next, place, scope);
  for (const next of Object.keys(optionalDependencies)) addInstalled(next, place, 'optional');
}

function add(packageName, packageVersion, spdx, scope, integrity = integrityOf(packageName, packageVersion)) {
  const component = { type: 'library', ...identity(packageName, packageVersion, spdx), scope };
  if (integrity !== undefined) {
    const [, algorithm, digest] = /^sha(\d+)-(.+)$/.exec(integrity);
    component.hashes = [{ alg: `SHA-${algorithm}`, content: Buffer.from(digest, 'base64').toString('hex') }];
  }
  if (found.get(component.purl)?.scope !== 'required') found.set(component.purl, component);
}

function packageOf(path) {
  return /node_modules\/((?:@[^/]+\/)?[^/]+)\/[^/]+$/.exec(path)[1];
}

/** Of the packed package, where the lockfile has it. */
function integrityOf(packageName, packageVersion) {
  const entry = Object.entries(packages).find(
    ([path, { version }]) => path.endsWith(`node_modules/${packageName}`) && version === packageVersion,
  );
  return entry?.[1].integrity;
}

function identity(packageName, packageVersion, spdx) {
  const purl = `pkg:npm/${packageName.replace('@', '%40')}@${packageVersion}`;
  const licences = /[ ()]/.test(spdx ?? '') ? [{ expression: spdx }] : [{ license: { id: spdx } }];
  const [, group, own] = /^(?:(@[^/]+)\/)?(.+)$/.exec(packageName);
  return {
    'bom-ref': purl,
    ...(group === undefined ? {} : { group }),
    name: own,
    version: packageVersion,
    purl,
    ...(spdx === undefined ? {} : { licenses: licences }),
  };
}

/** The form of a UUID made of a name (RFC 9562, version 8). */
function uuidOf(text) {
  const hex = createHash('sha256').update(text).digest('hex');
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `8${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join('-');
}
