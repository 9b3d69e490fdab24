import type { IncomingMessage, ServerResponse } from 'node:http';
import { onTestFinished } from 'vitest';
import { LeadsError } from '../../src/errors.ts';
import { type Scripted, scripted, sendJson, serviceAt, type TestService } from './service.ts';
import { walk } from './walk.ts';

export interface Asked {
  readonly query: URLSearchParams;
  /** The number of the request, from 0. */
  readonly nth: number;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

type Options = Parameters<typeof serviceAt>[1];

/** A service at this address, which is closed when the test ends. */
export async function openedAt(url: string, options: Options = {}): Promise<TestService> {
  const service = await serviceAt(url, options);
  onTestFinished(() => service.close());
  return service;
}

/** A server with a service at its address, both of which are closed when the test ends. */
export async function answering(
  answer: Parameters<typeof scripted>[0],
  options: Options = {},
): Promise<{ readonly server: Scripted; readonly service: TestService }> {
  const server = await scripted(answer);
  onTestFinished(() => server.close());
  return { server, service: await openedAt(server.url, options) };
}

/** The same, with the JSON that `reply` returns, unless that has ended the response itself. */
export const replying = (
  reply: (asked: Asked) => unknown,
  options: Options = {},
): ReturnType<typeof answering> =>
  answering((request, response, nth) => {
    const query = new URL(request.url ?? '', 'http://x').searchParams;
    const body = reply({ query, nth, request, response });
    if (!response.writableEnded && body !== undefined) sendJson(response, body);
  }, options);

/** The error with which a walk over the service fails. */
export async function failureOf(service: TestService): Promise<LeadsError> {
  const failure: unknown = await walk(service).catch((error: unknown) => error);
  if (failure instanceof LeadsError) return failure;
  throw failure instanceof Error ? failure : new Error('it did not fail');
}
