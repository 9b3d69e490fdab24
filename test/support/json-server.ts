import { spawn } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { request } from 'undici';
import { freePort } from './free-port.ts';
import { until } from './until.ts';

/** A service written by somebody else, in both of its pagination styles. */
const require = createRequire(import.meta.url);
const releases = {
  '0.17': join(dirname(require.resolve('json-server/package.json')), 'lib/cli/bin.js'),
  '1 beta': join(dirname(require.resolve('json-server-1/package.json')), 'lib/bin.js'),
};

export type JsonServerRelease = keyof typeof releases;

/** Serves leads at `/leads`. */
export async function startJsonServer(
  release: JsonServerRelease,
  leads: readonly { readonly id: string }[],
): Promise<{ readonly url: string; readonly close: () => Promise<void> }> {
  const directory = mkdtempSync(join(tmpdir(), 'leads-json-server-'));
  const file = join(directory, 'db.json');
  writeFileSync(file, JSON.stringify({ leads }));
  const port = await freePort();
  const child = spawn(
    process.execPath,
    [releases[release], file, '--port', String(port), '--host', '127.0.0.1'],
    { cwd: directory, stdio: 'ignore' },
  );
  const close = async (): Promise<void> => {
    child.kill();
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  };
  const url = `http://127.0.0.1:${port}`;
  const isUp = async (): Promise<boolean> => {
    const answer = await request(`${url}/leads/${leads[0]?.id ?? ''}`).catch(() => undefined);
    await answer?.body.dump();
    return answer?.statusCode === 200;
  };
  await until(isUp, 'json-server to start');
  return { url, close };
}
