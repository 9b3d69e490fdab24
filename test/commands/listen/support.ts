import { readFileSync, readdirSync } from 'node:fs';
import { request } from 'node:https';
import { request as plainRequest } from 'node:http';
import type { OutgoingHttpHeaders } from 'node:http';
import { text } from 'node:stream/consumers';
import { setImmediate } from 'node:timers/promises';
import { afterEach } from 'vitest';
import { InterruptedError } from '../../../src/errors.ts';
import { FakeClock } from '../../support/clock.ts';
import { type LiveRun, type Run, type RunOptions, startLeads } from '../../support/run.ts';
import { until } from '../../support/until.ts';

interface Answered {
  readonly status: number;
  readonly text: string;
  /** The same, where it is JSON. */
  readonly body: Record<string, unknown>;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

export interface Listener extends LiveRun {
  readonly url: string;
  readonly clock: FakeClock;
  /** Delivers a body, with the right token unless other headers are given. */
  post(body: unknown, headers?: OutgoingHttpHeaders, path?: string, method?: string): Promise<Answered>;
  /** As Ctrl-C does. Time stands still meanwhile: what is in flight is waited for. */
  interrupt(): Promise<Run>;
  /** The same, and time passes until the run has ended. */
  stop(): Promise<Run>;
  /** The records of `--format events`, so far. */
  events(): Record<string, unknown>[];
  /** The deliveries and the attempts among them. */
  deliveries(): Record<string, unknown>[];
  forwards(): Record<string, unknown>[];
  /** Lets time pass, a second at a time, until it is so. */
  passUntil(isSo: () => boolean): Promise<void>;
}

export const token = 'token-of-the-tests';

/** `leads listen` in this process, on a free port, ready when it resolves. */
export async function listen(argv: readonly string[] = [], options: RunOptions = {}): Promise<Listener> {
  const clock = (options.clock as FakeClock | undefined) ?? new FakeClock();
  const guarded = argv.some((word) => /^--(token|scheme|no-verify)/.test(word));
  const live = startLeads(['listen', '--port', '0', ...(guarded ? [] : ['--token', token]), ...argv], {
    ...options,
    clock,
  });
  const ready = /listening on (\S+?)(?:,|$)/m;
  let over = false;
  void live.done.then(() => (over = true));
  await until(() => over || ready.test(live.stderr.text()), 'the readiness line');
  const url = ready.exec(live.stderr.text())?.[1];
  if (url === undefined) throw new Error(`listen ended: ${(await live.done).stderr}`);
  const post: Listener['post'] = async (
    body,
    headers = { 'x-webhook-token': token },
    path = '/',
    method = 'POST',
  ) => {
    const answered = await deliver(new URL(path, url), body, headers, live.home, method);
    // What is printed goes to stdout at the end of the turn of the event loop that sent the answer.
    await setImmediate();
    return answered;
  };
  const interrupt = (): Promise<Run> => {
    live.abort(new InterruptedError('SIGINT'));
    return live.done;
  };
  const events: Listener['events'] = () =>
    live.stdout
      .text()
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  return {
    ...live,
    url,
    clock,
    post,
    interrupt,
    async stop() {
      const run = interrupt();
      // What ends by itself does so within a few turns.
      await until(() => {
        if (clock instanceof FakeClock) clock.advance(100);
        return over;
      }, 'the end of the run');
      return run;
    },
    events,
    deliveries: () => events().filter(({ type }) => type === 'delivery'),
    forwards: () => events().filter(({ type }) => type === 'forward'),
    passUntil: (isSo) =>
      until(() => {
        clock.advance(1000);
        return isSo();
      }),
  };
}

/** The same for a file of tests: whatever it started is stopped after each test. */
export function listenInEachTest(): typeof listen {
  const started: Listener[] = [];
  afterEach(async () => {
    for (const listener of started.splice(0)) await listener.stop();
  });
  return async (...args) => {
    const listener = await listen(...args);
    started.push(listener);
    return listener;
  };
}

function deliver(
  url: URL,
  body: unknown,
  headers: OutgoingHttpHeaders,
  home: string,
  method: string,
): Promise<Answered> {
  const bytes = body instanceof Uint8Array || typeof body === 'string' ? body : JSON.stringify(body);
  return new Promise((resolve, reject) => {
    const options = { method, headers: { 'content-type': 'application/json', ...headers }, agent: false };
    const sent =
      url.protocol === 'http:'
        ? plainRequest(url, options)
        : request(url, { ...options, ca: readFileSync(findAuthority(home)) });
    sent.on('error', reject);
    sent.on('response', (response) => {
      const { statusCode: status = 0, headers: answered } = response;
      const isJson = answered['content-type'] === 'application/json';
      text(response).then((body) => {
        const record = isJson && body !== '' ? (JSON.parse(body) as Record<string, unknown>) : {};
        resolve({ status, text: body, body: record, headers: answered });
      }, reject);
    });
    sent.end(bytes);
  });
}

/** Where the local authority is: one directory for this host's name. */
export function findAuthority(home: string): string {
  const directory = `${home}/data/tls`;
  const [host] = readdirSync(directory);
  return `${directory}/${host ?? ''}/ca.pem`;
}
