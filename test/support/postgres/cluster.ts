import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import {
  appendFileSync,
  mkdtempSync,
  openSync,
  closeSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../free-port.ts';
import { until } from '../until.ts';
import { type PostgresAddress, superuser } from './address.ts';
import { findBinaries, runnableBinaries } from './binaries.ts';
import { descendants, isRunning } from './descendants.ts';
import { giveAway, serverUser, sharedTmpdir } from './server-user.ts';

export interface ClusterOptions {
  /** Lines of postgresql.conf. */
  readonly settings?: Readonly<Record<string, string>>;
  /** PEM texts; turns TLS on. */
  readonly tls?: { readonly certificate: string; readonly key: string };
}

const access = `local all all trust
host all all 127.0.0.1/32 scram-sha-256
host all all ::1/128 scram-sha-256
local replication all trust
`;

const defaults = {
  listen_addresses: "'127.0.0.1'",
  max_connections: '400',
  shared_buffers: '32MB',
  log_line_prefix: "'%m [%p] %q%u@%d %e '",
  log_min_messages: 'warning',
  timezone: "'UTC'",
  // What the promises rest on, though both are the default.
  fsync: 'on',
  full_page_writes: 'on',
};

/** Stops the server and removes its files when this process ends in any way: its end closes the watcher's input. */
const watcher =
  'cat >/dev/null; pid=$(head -n 1 "$1/data/postmaster.pid" 2>/dev/null) && ' +
  '{ kill -QUIT "$pid"; while kill -0 "$pid" 2>/dev/null; do sleep 0.1; done; }; rm -rf "$1"';

/** A PostgreSQL server of a test's own, which it may kill. */
export class Cluster {
  readonly address: PostgresAddress;
  readonly #place: string;
  readonly #programs: string;
  readonly #watcher: ChildProcess;
  #server: ChildProcess | undefined;

  private constructor(address: PostgresAddress, programs: string, watching: ChildProcess) {
    this.address = address;
    this.#place = address.socketDirectory;
    this.#programs = programs;
    this.#watcher = watching;
  }

  /** Undefined where there are no binaries, which is a failure where `CI` is set. */
  static async start({ settings = {}, tls }: ClusterOptions = {}): Promise<Cluster | undefined> {
    const binaries = findBinaries();
    if (binaries === undefined) {
      if (process.env['CI'] === undefined) return undefined;
      throw new Error('no PostgreSQL for this platform, and CI is set: its tests must not be skipped');
    }
    const place = mkdtempSync(join(sharedTmpdir(), 'leads-postgres-'));
    const watching = spawn('sh', ['-c', watcher, 'sh', place], {
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
      cwd: '/',
    });
    const programs = runnableBinaries(binaries, join(place, 'install'));
    giveAway(place);
    const password = randomBytes(12).toString('hex');
    const data = join(place, 'data');
    run(place, join(programs, 'initdb'), ['-D', data, '-U', 'postgres', '-E', 'UTF8', ...initFlags]);
    const version = Number(readFileSync(join(data, 'PG_VERSION'), 'utf8'));
    writeFileSync(join(data, 'pg_hba.conf'), access);
    const all: Record<string, string> = {
      ...defaults,
      unix_socket_directories: `'${place}'`,
      ...(tls === undefined ? {} : { ssl: 'on' }),
      ...settings,
    };
    const lines = Object.entries(all).map(([name, value]) => `${name} = ${value}\n`);
    appendFileSync(join(data, 'postgresql.conf'), lines.join(''));
    if (tls !== undefined) {
      for (const [name, text] of [
        ['server.crt', tls.certificate],
        ['server.key', tls.key],
      ] as const) {
        writeFileSync(join(data, name), text, { mode: 0o600 });
        giveAway(join(data, name));
      }
    }
    const port = await freePort();
    const cluster = new Cluster({ version, port, socketDirectory: place, password }, programs, watching);
    await cluster.start();
    await cluster.#createRoles();
    return cluster;
  }

  /** What the server said. */
  log(): string {
    return readFileSync(join(this.#place, 'log'), 'utf8');
  }

  /** Starts the server after `kill9` or `shutDown`; it answers when this resolves. */
  async start(): Promise<void> {
    const log = openSync(join(this.#place, 'log'), 'a');
    const args = ['-D', join(this.#place, 'data'), '-p', String(this.address.port)];
    const server = spawn(join(this.#programs, 'postgres'), args, {
      ...serverUser,
      cwd: this.#place,
      env: environment,
      // A Ctrl-C is for the tests, which stop it.
      detached: true,
      stdio: ['ignore', log, log],
    });
    closeSync(log);
    server.unref();
    this.#server = server;
    await until(
      () => {
        if (server.exitCode !== null) throw new Error(`PostgreSQL did not start: ${this.log().slice(-2000)}`);
        return this.#status() === 'ready';
      },
      'PostgreSQL',
      60_000,
    );
  }

  /** Kills every process of the server at once: what it had not written is lost. */
  async kill9(): Promise<void> {
    const server = this.#running();
    const exited = once(server, 'exit');
    // Stopped first, it cannot start another process.
    server.kill('SIGSTOP');
    const processes = descendants(server.pid ?? 0);
    for (const pid of processes) kill(pid, 'SIGKILL');
    server.kill('SIGKILL');
    await exited;
    // The next server refuses to start while one of them still has the shared memory.
    await until(() => !processes.some(isRunning), 'the end of all processes of PostgreSQL');
    rmSync(join(this.#place, 'data', 'postmaster.pid'), { force: true });
  }

  /** Cuts all connections, writes everything, and ends. */
  async shutDown(): Promise<void> {
    const server = this.#running();
    const exited = once(server, 'exit');
    server.kill('SIGINT');
    await exited;
  }

  async restart(): Promise<void> {
    await this.shutDown();
    await this.start();
  }

  /** SIGSTOP or SIGCONT for the server and all its processes: it keeps its connections and answers nothing. */
  signal(name: 'SIGSTOP' | 'SIGCONT'): void {
    const server = this.#running();
    server.kill(name);
    for (const pid of descendants(server.pid ?? 0)) kill(pid, name);
  }

  /** The end of it, files included. */
  async stop(): Promise<void> {
    const exited = once(this.#watcher, 'exit');
    // A stopped process would not see the end.
    if (this.#server?.exitCode === null && this.#server.signalCode === null) this.signal('SIGCONT');
    this.#watcher.stdin?.end();
    await exited;
  }

  #running(): ChildProcess {
    if (this.#server === undefined || this.#server.exitCode !== null || this.#server.signalCode !== null) {
      throw new Error('this PostgreSQL does not run');
    }
    return this.#server;
  }

  /** The eighth line of its file of state. */
  #status(): string | undefined {
    try {
      return readFileSync(join(this.#place, 'data', 'postmaster.pid'), 'utf8')
        .split('\n')[7]
        ?.trim();
    } catch {
      return undefined;
    }
  }

  async #createRoles(): Promise<void> {
    const sql = superuser(this.address, 'postgres');
    const { password } = this.address;
    await sql.unsafe(
      `alter role postgres password '${password}'; create role leads login password '${password}'`,
    );
    await sql`create database leads owner leads`;
    await sql.end();
  }
}

const environment = { PATH: process.env['PATH'], LC_ALL: 'C', TZ: 'UTC' };
/** Not written through: a crash while it is made is of no interest. */
const initFlags = ['--locale=C', '-A', 'trust', '--no-sync', '--no-instructions'];

function run(cwd: string, program: string, args: readonly string[]): void {
  const { status, stderr, error } = spawnSync(program, args, {
    ...serverUser,
    cwd,
    env: environment,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`${program} failed: ${error?.message ?? stderr}`);
}

function kill(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
