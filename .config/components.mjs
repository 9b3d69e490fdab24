// Prints the components of the package, or of the executable file, as a CycloneDX document: `node .config/components.mjs package`.
// Both must be built. Of all packages of the lockfile, it lists those that the bundle holds, as their licences say, and those
// that npm installs. Serial number and time come from the commit, so that the same commit gives the same document.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { embeddedAddon } from './binary/embedded-addon.mjs';
import { root } from './library.mjs';

const run = (...words) =>
  execFileSync(words[0], words.slice(1), { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 26 });

const kind = process.argv[2];
const isPackage = kind === 'package';
const licences = readFileSync(
  `${root}${isPackage ? 'dist/THIRD-PARTY-LICENSES.txt' : '.cache/binary/licences.txt'}`,
  'utf8',
);
const document = JSON.parse(run('npm', 'sbom', '--sbom-format', 'cyclonedx', '--package-lock-only'));
const addon = embeddedAddon().addon.replaceAll('\\', '/');

const isBundled = ({ name, version }) => licences.includes(`${name} ${version} (`);
// npm marks the packages for development with a property, and the others are dependencies of the package. The executable file
// holds only the add-on of its platform.
const isInstalled = ({ name, properties }) =>
  isPackage ? properties.length === 0 : addon.includes(`/node_modules/${name}/`);

const components = document.components
  .filter((component) => isBundled(component) || isInstalled(component))
  .map((component) => ({ ...component, scope: isBundled(component) ? 'required' : 'optional' }));
// The lockfile does not name node, which is installed for the executable file alone.
const [, name, version] = /^(node-(?:bin-)?(?:linux|darwin|win)-\w+) (\S+) \(/m.exec(licences) ?? [];
if (name !== undefined) {
  const purl = `pkg:npm/${name}@${version}`;
  components.push({ 'bom-ref': purl, type: 'platform', name, version, purl });
}

const commit = run('git', 'rev-parse', 'HEAD').trim();
const seconds = Number(run('git', 'log', '-1', '--format=%ct'));
const hex = createHash('sha256').update(`${commit} ${kind}`).digest('hex');
// RFC 9562, version 8: a UUID made of a name.
const uuid = `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
const subject = { ...document.metadata.component, name: 'leads-cli' };
process.stdout.write(
  `${JSON.stringify(
    {
      ...document,
      serialNumber: `urn:uuid:${uuid}`,
      metadata: {
        ...document.metadata,
        timestamp: new Date(seconds * 1000).toISOString(),
        component: subject,
      },
      components,
      dependencies: [
        { ref: subject['bom-ref'], dependsOn: components.map((component) => component['bom-ref']) },
      ],
    },
    null,
    2,
  )}\n`,
);
