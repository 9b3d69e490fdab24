import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Dialect } from '../../src/config/dialect.ts';
import type { Clock } from '../../src/time/clock.ts';
import { createAgent } from '../../src/http/client/agent.ts';
import { createMessages } from '../../src/output/messages.ts';
import { commandLine } from '../../src/front.ts';
import { Secret } from '../../src/secret.ts';
import { RateGate } from '../../src/service/client/rate-limit.ts';
import type { Service } from '../../src/service/client/service.ts';
import { FakeClock } from './clock.ts';
import { type OpenServer, openServer } from './open-server.ts';
import { freshHome, memory } from './run.ts';

export interface Scripted extends OpenServer {
  /** Path and query of every request so far. */
  readonly requests: string[];
}

/** A plain HTTP server on a free port; `answer` gets the number of the request, from 0. */
export async function scripted(
  answer: (request: IncomingMessage, response: ServerResponse, nth: number) => void,
): Promise<Scripted> {
  const requests: string[] = [];
  const server = createServer((request, response) => {
    requests.push(request.url ?? '');
    answer(request, response, requests.length - 1);
  });
  return { ...(await openServer(server)), requests };
}

export function sendJson(
  response: ServerResponse,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(200, { 'content-type': 'application/json', ...headers });
  response.end(typeof body === 'string' ? body : JSON.stringify(body));
}

export interface TestService extends Service {
  readonly clock: FakeClock;
  /** What was written to stderr. */
  said(): string;
  close(): Promise<void>;
}

/** A service as commands open it, on a clock that hurries, with everything that it says. */
// eslint-disable-next-line @typescript-eslint/require-await -- its many callers await it.
export async function serviceAt(
  url: string,
  options: {
    readonly key?: string;
    readonly dialect?: Dialect;
    readonly retries?: number;
    readonly timeoutMs?: number;
    readonly random?: () => number;
    readonly clock?: FakeClock;
  } = {},
): Promise<TestService> {
  const stderr = memory(undefined);
  const timeoutMs = options.timeoutMs ?? 5000;
  const http = createAgent({ env: {}, dataDir: freshHome(), timeoutMs });
  const clock: Clock & FakeClock = options.clock ?? new FakeClock(undefined, { hasty: true });
  return {
    account: { baseUrl: new URL(url), apiKey: new Secret(options.key ?? 'sandbox-key') },
    dialect: options.dialect ?? {},
    http,
    messages: createMessages(stderr, { verbose: true, quiet: false }),
    front: commandLine,
    rateGate: new RateGate(clock),
    clock,
    random: options.random ?? (() => 0.5),
    signal: new AbortController().signal,
    timeoutMs,
    retries: options.retries ?? 5,
    said: () => stderr.text(),
    close: () => http.destroy(),
  };
}
