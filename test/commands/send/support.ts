import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { buffer } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import { systemClock } from '../../../src/time/clock.ts';
import { leads, type Run, type RunOptions } from '../../support/run.ts';
import { openServer } from '../../support/open-server.ts';

interface Received {
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

type Handle = (request: Received, response: ServerResponse, nth: number) => void;

/** A receiver of node's own on a free port; `nth` counts requests from 1. */
export async function receiver(
  handle: Handle = (_, response) => response.end('{"status":"ok"}'),
  tls?: { readonly certPem: string; readonly keyPem: string },
) {
  const received: Received[] = [];
  const listener = (request: IncomingMessage, response: ServerResponse): void => {
    const { headers } = request;
    void buffer(request).then((body) => {
      const one = { headers, body };
      handle(one, response, received.push(one));
    });
  };
  const server: Server =
    tls === undefined
      ? createServer(listener)
      : createSecureServer({ cert: tls.certPem, key: tls.keyPem }, listener);
  const opened = await openServer(server);
  onTestFinished(opened.close);
  const scheme = tls === undefined ? 'http' : 'https';
  return { url: `${scheme}://127.0.0.1:${opened.port}/hook`, received };
}

/** `leads send` in this process; chance is real, so that ids differ. */
export const send = (url: string, argv: readonly string[] = [], options: RunOptions = {}): Promise<Run> =>
  leads(
    [
      'send',
      url,
      ...(argv.some((word) => /^--(token|scheme|no-verify)/.test(word)) ? [] : ['--token', token]),
      ...argv,
    ],
    {
      random: Math.random,
      ...options,
    },
  );

export const token = 'token-of-the-send-tests';

/** On real time, for what is measured. */
export const onRealTime = { clock: systemClock };

/** The records of `--json`. */
export function records({ stdout }: Pick<Run, 'stdout'>) {
  const all = stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  return {
    attempts: all.filter(({ type }) => type === 'attempt'),
    summary: all.at(-1) as unknown as Summary,
  };
}

interface Summary {
  readonly type: string;
  readonly deliveries: number;
  readonly attempts: number;
  readonly acknowledged: number;
  readonly failed: number;
  readonly late: number;
  readonly openLoop: boolean;
  readonly achievedRate: number;
  readonly byStatus: Record<string, number>;
  readonly latencyMs: Record<'p50' | 'p90' | 'p99' | 'max', number>;
}
