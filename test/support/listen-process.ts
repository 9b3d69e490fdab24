import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freshHome } from './run.ts';
import { requireValidJson } from './valid-json.ts';

export const binary = fileURLToPath(new URL('../../bin/leads.js', import.meta.url));

export interface ListenProcess {
  readonly url: string;
  readonly home: string;
  readonly child: ChildProcess;
  readonly stdout: () => string;
  readonly stderr: () => string;
  /** Sends the signal and waits for the end: the exit code, or the signal's name. */
  end(signal: NodeJS.Signals): Promise<number | string>;
}

interface ListenProcessOptions {
  readonly home?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Put in front of the command, such as `prlimit`. */
  readonly through?: readonly string[];
  /** Default: this release. */
  readonly program?: string;
}

const running = new Set<ChildProcess>();

// A test that fails half-way must not leave a receiver behind.
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/** `leads listen` as a process of its own, ready when it resolves. */
export async function listenProcess(
  argv: readonly string[],
  { home = freshHome(), env = {}, through = [], program = binary }: ListenProcessOptions = {},
): Promise<ListenProcess> {
  const [command = '', ...rest] = [...through, process.execPath, program, 'listen', ...argv];
  const child = spawn(command, rest, {
    env: { PATH: process.env['PATH'], ...environment(home), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  running.add(child);
  child.once('close', () => running.delete(child));
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString('utf8')));
  const ended = new Promise<number | string>((resolve) => {
    child.on('close', (code, signal) => {
      if (code !== null) requireValidJson(['listen', ...argv], stdout, stderr);
      resolve(code ?? signal ?? '');
    });
  });
  const url = await new Promise<string>((resolve, reject) => {
    child.stderr.on('data', (chunk: Buffer) => {
      stderr += chunk.toString('utf8');
      const ready = /listening on (\S+?)(?:,|$)/m.exec(stderr)?.[1];
      if (ready !== undefined) resolve(ready);
    });
    void ended.then((how) => reject(new Error(`listen ended with ${how}: ${stderr}`)));
  });
  return {
    url,
    home,
    child,
    stdout: () => stdout,
    stderr: () => stderr,
    end(signal) {
      child.kill(signal);
      return ended;
    },
  };
}

export const environment = (home: string): Record<string, string> => ({
  HOME: home,
  LEADS_CONFIG_DIR: join(home, 'config'),
  LEADS_DATA_DIR: join(home, 'data'),
});

/** Where the local authority is: one directory for this host's name. */
export function authorityOf(home: string): string {
  const directory = join(home, 'data', 'tls');
  const [host = ''] = readdirSync(directory).filter((name) => !name.includes('.until-'));
  return join(directory, host, 'ca.pem');
}

/** A port that was free a moment ago. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
