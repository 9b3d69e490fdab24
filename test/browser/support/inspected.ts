import { request } from 'undici';
import { onTestFinished } from 'vitest';
import { type InspectProcess, inspectProcess } from '../../support/inspect-process.ts';
import { listenProcess } from '../../support/listen-process.ts';
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

/** `leads inspect` over the inbox in `home`. Its `url` has the key that works now: the one that was printed last. */
export async function inspect(
  home: string,
  words: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): Promise<InspectProcess> {
  const program = await inspectProcess(words, home, env);
  onTestFinished(() => void program.end('SIGKILL'));
  return {
    ...program,
    get url() {
      return (
        program
          .stderr()
          .match(/^http:\S+#key=\S+$/gm)
          ?.at(-1) ?? ''
      );
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
