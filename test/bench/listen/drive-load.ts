import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Listening } from '../../support/listening.ts';
import { onCore } from '../../support/on-core.ts';
import type { Outcome } from './load.ts';

/** Delivers so many leads, whose ids begin with `prefix`, from the second core. `load`: the program load.ts, built. */
export async function driveLoad(
  load: string,
  { port, caPath }: Pick<Listening, 'port' | 'caPath'>,
  secret: string,
  { count, prefix }: { readonly count: number; readonly prefix: string },
): Promise<Outcome> {
  const options = { ports: [port], caPath, path: '/', secret, connections: 100, requests: count, prefix };
  const [command = '', ...args] = onCore(1, [process.execPath, load, JSON.stringify(options)]);
  return JSON.parse((await promisify(execFile)(command, args)).stdout) as Outcome;
}
