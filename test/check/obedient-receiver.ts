import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createSecureServer, type ServerOptions } from 'node:https';
import { onTestFinished } from 'vitest';
import { Secret } from '../../src/secret.ts';
import type { Delivery } from '../../src/webhook/delivery.ts';
import type { Key, Scheme } from '../../src/webhook/scheme.ts';
import type { SchemeOptions } from '../../src/webhook/scheme-options.ts';
import { schemeNamed } from '../../src/webhook/scheme-registry.ts';
import { checkTimestamp } from '../../src/webhook/timestamp.ts';
import { openServer } from '../support/open-server.ts';

/** What a receiver does at each step; each of them is right by default. */
export interface Steps {
  readonly takesMethod: (method: string) => boolean;
  readonly takesType: (type: string) => boolean;
  readonly authenticates: (delivery: Delivery, scheme: Scheme, key: Key) => boolean;
  readonly isInTime: (delivery: Delivery, scheme: Scheme, key: Key) => boolean;
  readonly isReplay: (nonce: string, body: Buffer) => boolean;
  /** Throws for what is not JSON. */
  readonly parse: (body: Buffer) => unknown;
  readonly store: (id: string, body: Buffer) => void;
  /** Answers what was stored, or refused for a reason. */
  readonly answer: (response: ServerResponse, status: number, request: Received) => void;
  /** Before anything else; true when it has dealt with the request. */
  readonly before: (request: IncomingMessage, response: ServerResponse) => boolean | Promise<boolean>;
  /** Once the body is there; true when it has dealt with the request. */
  readonly withBody: (delivery: Delivery, chunks: readonly Buffer[], response: ServerResponse) => boolean;
}

interface Received {
  readonly delivery: Delivery;
  readonly scheme: Scheme;
  readonly key: Key;
}

export interface Running {
  readonly server: Server;
  readonly stored: Map<string, number>;
  readonly url: string;
}

const longest = 1 << 20;

/** A receiver that obeys the specification, but for the steps that are given; a scheme with options is their JSON. */
export async function startReceiver(
  schemeText: string,
  secret: string,
  broken: (running: Running) => Partial<Steps> = () => ({}),
  tls?: ServerOptions,
): Promise<Running> {
  const { scheme: name, ...options } = (
    schemeText.startsWith('{') ? JSON.parse(schemeText) : { scheme: schemeText }
  ) as SchemeOptions & { scheme: string };
  const scheme = schemeNamed(name, options);
  const key = scheme.key(new Secret(secret));
  const nonces = new Map<string, string>();
  const stored = new Map<string, number>();
  const listener = (request: IncomingMessage, response: ServerResponse): void => void deal(request, response);
  const server = tls === undefined ? createServer(listener) : createSecureServer(tls, listener);
  const deal = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (await steps.before(request, response)) return;
    const chunks = await readBody(request);
    const body = Buffer.concat(chunks);
    const delivery = deliveryOf(request, body, running.url);
    if (steps.withBody(delivery, chunks, response)) return;
    const answer = (status: number): void => steps.answer(response, status, { delivery, scheme, key });
    answer(body.length > longest ? 413 : statusOf(delivery, body));
  };
  const statusOf = (delivery: Delivery, body: Buffer): number => {
    if (!steps.takesMethod(delivery.method)) return 405;
    if (!steps.authenticates(delivery, scheme, key)) return 401;
    const type = delivery.rawHeaders.find(([name]) => /^content-type$/i.test(name))?.[1] ?? '';
    if (!steps.takesType(type)) return 415;
    if (!steps.isInTime(delivery, scheme, key)) return 401;
    const verification = scheme.authenticate(delivery, [key]);
    const nonce = verification.ok ? verification.nonce : undefined;
    if (nonce !== undefined && steps.isReplay(nonce, body)) return 401;
    let lead: unknown;
    try {
      lead = steps.parse(body);
    } catch (error) {
      return error instanceof SyntaxError || error instanceof TypeError ? 400 : 500;
    }
    const { id } = (typeof lead === 'object' && lead !== null ? lead : {}) as { id?: unknown };
    if (typeof id !== 'string') return 400;
    steps.store(id, body);
    return 200;
  };
  const { port, close } = await openServer(server);
  onTestFinished(close);
  const running: Running = {
    server,
    stored,
    url: tls === undefined ? `http://127.0.0.1:${port}/hook` : `https://localhost:${port}/hook`,
  };
  const steps: Steps = {
    takesMethod: (method) => method === 'POST',
    takesType: (type) => /^application\/json\b/i.test(type),
    authenticates: (delivery) => scheme.authenticate(delivery, [key]).ok,
    isInTime(delivery) {
      const verification = scheme.authenticate(delivery, [key]);
      return !verification.ok || checkTimestamp(verification, scheme.toleranceMs, Date.now()).ok;
    },
    isReplay(nonce, body) {
      const known = nonces.get(nonce) ?? body.toString('latin1');
      nonces.set(nonce, known);
      return known !== body.toString('latin1');
    },
    parse: (body) =>
      JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body).replace(/^$/, '!')) as unknown,
    store: (id) => stored.set(id, 1),
    answer: (response, status) => response.writeHead(status).end(`{"status":${status}}`),
    before: () => false,
    withBody: () => false,
    ...broken(running),
  };
  return running;
}

/** What strict decoding finds is no JSON either. */
async function readBody(request: IncomingMessage): Promise<Buffer[]> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  } catch {
    // The sender went away.
  }
  return chunks;
}

function deliveryOf(request: IncomingMessage, body: Buffer, url: string): Delivery {
  const { rawHeaders: flat, method = '', url: path = '' } = request;
  return {
    method,
    path,
    url: new URL(path, url).href,
    rawHeaders: Array.from({ length: flat.length / 2 }, (_, i) => [flat[2 * i] ?? '', flat[2 * i + 1] ?? '']),
    body,
    remote: '',
    receivedAt: Date.now(),
  };
}
