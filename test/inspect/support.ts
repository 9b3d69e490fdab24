import { once } from 'node:events';
import { type IncomingMessage, request as httpRequest, type RequestOptions } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import type { Inbox, InboxReader } from '../../src/inbox/inbox.ts';
import { openInbox } from '../../src/inbox/open-inbox.ts';
import { type InspectServer, openInspectServer } from '../../src/inspect/open-inspect-server.ts';
import { Replayer, type ReplayTarget, replayTarget } from '../../src/inspect/replayer.ts';
import { tokenHeader, type WireSession } from '../../src/inspect/wire.ts';
import type { Signer } from '../../src/sender/sign-request.ts';
import { type Clock, systemClock } from '../../src/time/clock.ts';
import { freshFile } from '../inbox/support.ts';

export interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly text: string;
}

/** A server of the page, and a client with a token. */
export interface Inspected {
  readonly inbox: Inbox;
  readonly server: InspectServer;
  readonly origin: string;
  /** Of the address that was opened, and of the next one. */
  readonly usedKey: string;
  readonly key: string;
  readonly token: string;
  get(path: string, options?: AnswerOptions): Promise<Answer>;
  post(path: string, body: unknown): Promise<Answer>;
}

interface AnswerOptions {
  readonly headers?: Readonly<Record<string, string>>;
}

interface InspectOptions {
  readonly inbox?: Inbox;
  readonly targets?: readonly ReplayTarget[];
  /** What the page reads. Default: the inbox itself. */
  readonly reader?: Omit<InboxReader, 'close'>;
  readonly clock?: Clock;
}

/** Over an inbox of its own unless one is given; closed after the test. */
export async function inspect(options: InspectOptions = {}): Promise<Inspected> {
  const location = options.targets === undefined ? ':memory:' : freshFile('inbox.db');
  const inbox = options.inbox ?? (await openInbox({ location, clock: systemClock }));
  if (options.inbox === undefined) onTestFinished(() => inbox.close());
  const replays = new Replayer({
    targets: options.targets ?? [],
    openInbox: ({ name }) => openInbox({ location: inbox.location, clock: systemClock, targets: [name] }),
    clock: options.clock ?? systemClock,
  });
  const server = await openInspectServer({
    port: 0,
    location: inbox.location,
    inbox: options.reader ?? inbox,
    replays,
    clock: options.clock ?? systemClock,
    pageFile: (name) => Buffer.from(`the file ${name} ${'.'.repeat(2000)}`),
    onNextUrl: () => undefined,
    onError: (error) => {
      throw error;
    },
  });
  onTestFinished(async () => {
    await server.close();
    await replays.close();
  });
  const origin = `http://127.0.0.1:${server.port}`;
  const keyNow = (): string => new URL(server.url).hash.replace('#key=', '');
  const key = keyNow();
  const session = await post(`${origin}/api/session`, { key }, origin);
  const { token } = JSON.parse(session.text) as WireSession;
  return {
    inbox,
    server,
    origin,
    usedKey: key,
    get key() {
      return keyNow();
    },
    token,
    get: (path, more = {}) =>
      send(`${origin}${path}`, { ...more, headers: { [tokenHeader]: token, ...more.headers } }),
    post: (path, body) => post(`${origin}${path}`, body, origin, { [tokenHeader]: token }),
  };
}

/** One request, on a connection of its own. */
export async function send(url: string, options: RequestOptions = {}, body?: string): Promise<Answer> {
  const sent = httpRequest(url, { ...options, agent: false });
  sent.end(body);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  const text = (await buffer(response)).toString('utf8');
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    text,
  };
}

export const post = (
  url: string,
  body: unknown,
  origin: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> =>
  send(
    url,
    { method: 'POST', headers: { origin, 'content-type': 'application/json', ...headers } },
    JSON.stringify(body),
  );

/** A target at that address. */
export const targetAt = (url: string, signer?: Signer): ReplayTarget =>
  replayTarget(
    {
      url: new URL(url),
      proxy: undefined,
      timeoutMs: 5_000,
      now: () => Date.now(),
      signal: new AbortController().signal,
    },
    signer,
  );
