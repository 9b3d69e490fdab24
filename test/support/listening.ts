import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The real `leads listen` in a process of its own. */
export interface Listening {
  readonly child: ChildProcess;
  readonly pid: number;
  readonly port: number;
  /** Undefined with `--http`. */
  readonly ca: string | undefined;
  readonly caPath: string | undefined;
  readonly dataDir: string;
  readonly stderr: () => string;
  /** Resident memory, in bytes; 0 where the system does not tell. */
  readonly memory: () => number;
  /** Ctrl-C; gives the exit code. */
  stop(): Promise<number | null>;
}

export interface ListenOptions {
  readonly dataDir?: string;
  /** Program and arguments that start another. */
  readonly under?: readonly string[];
}

const bin = fileURLToPath(new URL('../../bin/leads.js', import.meta.url));

/** Starts it with these flags on a free port, and resolves once it is ready. Its standard output is not kept. */
export function startListen(flags: readonly string[], options: ListenOptions = {}): Promise<Listening> {
  const dataDir = options.dataDir ?? mkdtempSync(join(tmpdir(), 'leads-listen-'));
  return startReady(
    [
      ...(options.under ?? []),
      ...[process.execPath, bin],
      ...['listen', '--format', 'events', ...(flags.includes('--port') ? [] : ['--port', '0']), ...flags],
    ],
    dataDir,
  );
}

/** The same for any program whose first line says, as the `events` format does, where it listens. */
export async function startReady(command: readonly string[], dataDir: string): Promise<Listening> {
  const [program = '', ...args] = command;
  const child = spawn(program, args, {
    env: { PATH: process.env['PATH'], LEADS_DATA_DIR: dataDir, LEADS_CONFIG_DIR: join(dataDir, 'config') },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr = (stderr + text).slice(-100_000)));
  const ready = await firstLine(child, () => stderr);
  const { url, ca } = JSON.parse(ready) as { url: string; ca?: string | null };
  const pid = child.pid ?? 0;
  return {
    child,
    pid,
    port: Number(new URL(url).port),
    ca: typeof ca === 'string' ? readFileSync(ca, 'utf8') : undefined,
    caPath: ca ?? undefined,
    dataDir,
    stderr: () => stderr,
    memory: () => residentBytes(pid),
    stop: async () => {
      if (child.exitCode !== null) return child.exitCode;
      const exited = once(child, 'exit');
      child.kill('SIGINT');
      await exited;
      return child.exitCode;
    },
  };
}

function firstLine(child: ChildProcess, stderr: () => string): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    child.once('exit', (code) => reject(new Error(`it ended with ${String(code)}: ${stderr()}`)));
    child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
      if (text.includes('\n')) return;
      text += chunk;
      if (text.includes('\n')) resolve(text.slice(0, text.indexOf('\n')));
    });
  });
}

export function residentBytes(pid: number): number {
  try {
    return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}

/** User and system time that a process and its ended children have used, in seconds; 0 where the system does not tell. */
export function cpuSeconds(pid: number): number {
  try {
    // The fields after the name in parentheses, which may hold spaces; times are in hundredths.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
    return fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0) / 100;
  } catch {
    return 0;
  }
}
