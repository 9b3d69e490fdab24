import { type ChildProcess, spawn } from 'node:child_process';
import { tokenHeader, type WireSession } from '../../src/inspect/wire.ts';
import { binary, environment } from './listen-process.ts';

/** A page that a process of its own serves, and a client with its token. */
export interface InspectClient {
  readonly origin: string;
  get(path: string, signal?: AbortSignal): Promise<Response>;
  post(path: string, body: unknown): Promise<Response>;
}

export interface InspectProcess {
  readonly child: ChildProcess;
  /** The address with its key. */
  readonly url: string;
  readonly stderr: () => string;
  end(signal: NodeJS.Signals): Promise<number | string>;
}

const running = new Set<ChildProcess>();

// A test that fails half-way must not leave a server behind.
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/** The address in what a process said on stderr; undefined as long as it is not there. */
export const inspectUrlIn = (stderr: string): string | undefined =>
  /^http:\/\/127\.0\.0\.1:\d+\/#key=[\w-]+$/m.exec(stderr)?.[0];

/** `leads inspect` as a process of its own, ready when it resolves. */
export async function inspectProcess(
  argv: readonly string[],
  home: string,
  env: Readonly<Record<string, string>> = {},
): Promise<InspectProcess> {
  const child = spawn(process.execPath, [binary, 'inspect', ...argv], {
    env: { PATH: process.env['PATH'], ...environment(home), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  running.add(child);
  child.once('close', () => running.delete(child));
  let stderr = '';
  const ended = new Promise<number | string>((resolve) => {
    child.on('close', (code, signal) => resolve(code ?? signal ?? ''));
  });
  const url = await new Promise<string>((resolve, reject) => {
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
      const found = inspectUrlIn(stderr);
      if (found !== undefined) resolve(found);
    });
    void ended.then((how) => reject(new Error(`inspect ended with ${how}: ${stderr}`)));
  });
  return {
    child,
    url,
    stderr: () => stderr,
    end(signal) {
      child.kill(signal);
      return ended;
    },
  };
}

/** Exchanges the key of an address for a token. */
export async function inspectClient(url: string): Promise<InspectClient> {
  const { origin, hash } = new URL(url);
  const send = (path: string, body: unknown, headers: Readonly<Record<string, string>>) =>
    fetch(`${origin}${path}`, {
      method: 'POST',
      headers: { origin, 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
  const session = await send('/api/session', { key: hash.replace('#key=', '') }, {});
  const { token } = (await session.json()) as WireSession;
  return {
    origin,
    get: (path, signal) =>
      fetch(`${origin}${path}`, { headers: { [tokenHeader]: token }, ...(signal && { signal }) }),
    post: (path, body) => send(path, body, { [tokenHeader]: token }),
  };
}
