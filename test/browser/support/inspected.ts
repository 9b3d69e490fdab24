import { type ChildProcess, spawn } from 'node:child_process';
import { request } from 'undici';
import { onTestFinished } from 'vitest';
import { binary, environment, listenProcess } from '../../support/listen-process.ts';
import { freshHome } from '../../support/run.ts';

const token = 'tok_browser';

export interface Receiver {
  readonly home: string;
  /** Sends a body, and gives the status of the answer. */
  readonly deliver: (body: unknown, headers?: Readonly<Record<string, string>>) => Promise<number>;
  readonly end: () => Promise<unknown>;
}

/** `leads listen` over an inbox of its own, or over the one in `home`. */
export async function receiver(more: readonly string[] = [], home = freshHome()): Promise<Receiver> {
  const listening = await listenProcess(['--http', '--port', '0', '--token', token, ...more], { home });
  onTestFinished(() => void listening.end('SIGTERM'));
  return {
    home,
    async deliver(body, headers = {}) {
      const answer = await request(listening.url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-webhook-token': token, ...headers },
        body: typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body),
      });
      await answer.body.dump();
      return answer.statusCode;
    },
    end: () => listening.end('SIGTERM'),
  };
}

export interface Inspected {
  /** With the key that works now: the one that was printed last. */
  readonly url: string;
  readonly stderr: () => string;
  readonly child: ChildProcess;
  readonly end: () => Promise<unknown>;
}

/** `leads inspect` over the inbox in `home`. */
export async function inspect(
  home: string,
  more: readonly string[] = [],
  env: NodeJS.ProcessEnv = {},
): Promise<Inspected> {
  const child = spawn(process.execPath, [binary, 'inspect', ...more], {
    env: { PATH: process.env['PATH'], ...environment(home), ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = new Promise((resolve) => child.once('close', resolve));
  onTestFinished(() => void child.kill('SIGKILL'));
  let stderr = '';
  const printed = (): string | undefined => stderr.match(/^http:\S+#key=\S+$/gm)?.at(-1);
  await new Promise<void>((resolve, reject) => {
    child.stderr.on('data', (chunk: Buffer) => {
      stderr += chunk.toString('utf8');
      if (printed() !== undefined) resolve();
    });
    void ended.then(() => reject(new Error(`inspect ended: ${stderr}`)));
  });
  return {
    get url() {
      return printed() ?? '';
    },
    stderr: () => stderr,
    child,
    end() {
      child.kill('SIGTERM');
      return ended;
    },
  };
}

/** A lead as the specification has it. */
export function leadOf(
  id: string,
  name = 'Ada Lovelace',
  more: Readonly<Record<string, unknown>> = {},
): object {
  return {
    id,
    category: 'solar',
    createdAt: new Date(Date.now() - 4_000).toISOString(),
    contact: { name, email: `${id}@example.com`, phone: '+15550001234' },
    ...more,
  };
}
