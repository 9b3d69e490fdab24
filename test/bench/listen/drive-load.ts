import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { Listening } from '../../support/listening.ts';
import { onCore } from '../../support/on-core.ts';
import type { Outcome } from './load.ts';

/** Delivers so many leads, whose ids begin with `prefix`, from the second core. `load`: the program load.ts, built. */
export async function driveLoad(
  load: string,
  { port, caPath, proof = 'hmac' }: Pick<Driven, 'port' | 'caPath' | 'proof'>,
  secret: string,
  { count, prefix }: { readonly count: number; readonly prefix: string },
): Promise<Outcome> {
  const options = { port, caPath, proof, secret, connections: 100, requests: count, prefix };
  const [command = '', ...args] = onCore(1, [process.execPath, load, JSON.stringify(options)]);
  return JSON.parse((await promisify(execFile)(command, args)).stdout) as Outcome;
}

/** A server that is driven. */
export interface Driven extends Pick<Listening, 'pid' | 'port' | 'caPath'> {
  readonly child: ChildProcess;
  /** Of its deliveries; without it, an HMAC. */
  readonly proof?: 'hmac' | 'token';
}

/** The yardstick on the first core, with the certificate of the authority at `caPath`. `program`: bare.ts, built. */
export async function startServer(
  program: string,
  caPath: string,
  more: readonly string[] = [],
): Promise<Driven> {
  const pair = join(dirname(caPath), 'server.pem');
  const [command = '', ...args] = onCore(0, [process.execPath, program, pair, ...more]);
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  return { child, pid: child.pid ?? 0, port: Number(line.toString()), caPath };
}
