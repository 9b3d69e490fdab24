import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { freePort } from '../free-port.ts';
import type { PostgresAddress } from './address.ts';
import { giveAway, serverUser, sharedTmpdir } from './server-user.ts';

/** Debian's pooler in transaction mode, in front of a server. */
export interface Pooler {
  readonly port: number;
  log(): string;
  stop(): Promise<void>;
}

/** Undefined where it is not installed, which is a failure where `CI` is set. */
export async function startPooler(to: PostgresAddress, poolSize = 4): Promise<Pooler | undefined> {
  const program = findPooler();
  if (program === undefined) {
    if (process.env['CI'] !== undefined) {
      throw new Error('pgbouncer is not installed, and CI is set: its tests must not be skipped');
    }
    return undefined;
  }
  const place = mkdtempSync(join(sharedTmpdir(), 'leads-pgbouncer-'));
  giveAway(place);
  const port = await freePort();
  const users = join(place, 'users.txt');
  writeFileSync(users, `"leads" "${to.password}"\n`, { mode: 0o600 });
  giveAway(users);
  const config = join(place, 'pgbouncer.ini');
  const lines = [
    '[databases]',
    `* = host=127.0.0.1 port=${to.port}`,
    '[pgbouncer]',
    'listen_addr = 127.0.0.1',
    `listen_port = ${port}`,
    'unix_socket_dir =',
    'pool_mode = transaction',
    `default_pool_size = ${poolSize}`,
    // For so many seconds a server that did not answer is not asked again.
    'server_login_retry = 1',
    'auth_type = scram-sha-256',
    `auth_file = ${users}`,
  ];
  writeFileSync(config, `${lines.join('\n')}\n`);
  const child = spawn(program, [config], {
    ...serverUser,
    cwd: place,
    env: {},
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let log = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (log += text));
  await ready(child, () => log);
  return {
    port,
    log: () => log,
    async stop() {
      if (child.exitCode === null) {
        const exited = once(child, 'exit');
        child.kill('SIGTERM');
        await exited;
      }
      rmSync(place, { recursive: true, force: true });
    },
  };
}

function ready(child: ChildProcess, log: () => string): Promise<void> {
  return new Promise((resolve, reject) => {
    child.stderr?.on('data', () => {
      if (log().includes('process up')) resolve();
    });
    child.once('exit', () => reject(new Error(`pgbouncer ended: ${log()}`)));
    child.once('error', reject);
  });
}

/** Debian installs it where only root looks. */
function findPooler(): string | undefined {
  const directories = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin'];
  return directories
    .map((directory) => join(directory, 'pgbouncer'))
    .find((path) => {
      try {
        accessSync(path, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
}
