import { tokenHeader, type WireSession } from '../../src/inspect/wire.ts';
import { type RunningProgram, startProgram } from './listen-process.ts';

/** A page that a process of its own serves, and a client with its token. */
export interface InspectClient {
  readonly origin: string;
  get(path: string, signal?: AbortSignal): Promise<Response>;
  post(path: string, body: unknown): Promise<Response>;
}

/** The address with its key. */
const pageUrl = /^(http:\/\/127\.0\.0\.1:\d+\/#key=[\w-]+)$/m;

/** The address in what a process said on stderr; undefined as long as it is not there. */
export const inspectUrlIn = (stderr: string): string | undefined => pageUrl.exec(stderr)?.[1];

export interface InspectProcess extends RunningProgram {
  readonly url: string;
}

/** `leads inspect` as a process of its own, ready when it resolves. */
export async function inspectProcess(
  argv: readonly string[],
  home: string,
  env: Readonly<Record<string, string>> = {},
): Promise<InspectProcess> {
  const program = startProgram(['inspect', ...argv], home, env);
  return { ...program, url: await program.printed(pageUrl) };
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
