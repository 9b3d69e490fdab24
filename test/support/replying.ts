import type { IncomingMessage, ServerResponse } from 'node:http';
import { onTestFinished } from 'vitest';
import { type Scripted, scripted, sendJson, serviceAt, type TestService } from './service.ts';

export interface Asked {
  readonly query: URLSearchParams;
  /** The number of the request, from 0. */
  readonly nth: number;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/**
 * A service that answers each request with the JSON that `reply` returns, unless that has ended the response itself. It is
 * closed when the test ends.
 */
export async function replying(
  reply: (asked: Asked) => unknown,
  options: Parameters<typeof serviceAt>[1] = {},
): Promise<{ readonly server: Scripted; readonly service: TestService }> {
  const server = await scripted((request, response, nth) => {
    const query = new URL(request.url ?? '', 'http://x').searchParams;
    const body = reply({ query, nth, request, response });
    if (!response.writableEnded && body !== undefined) sendJson(response, body);
  });
  const service = await serviceAt(server.url, options);
  onTestFinished(async () => {
    await service.close();
    await server.close();
  });
  return { server, service };
}
