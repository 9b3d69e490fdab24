import type { HttpAnswer, HttpRequest } from '../../src/http/client/http-client.ts';
import { commandLine } from '../../src/front.ts';
import { createMessages } from '../../src/output/messages.ts';
import { Secret } from '../../src/secret.ts';
import { RateGate } from '../../src/service/client/rate-limit.ts';
import type { Service } from '../../src/service/client/service.ts';
import { FakeClock } from './clock.ts';
import type { ListedPage } from './moving-service.ts';
import { memory } from './run.ts';

/** A service without sockets, for thousands of walks; `answer` gets the address of each request. */
export function serviceInMemory(answer: (url: URL) => Omit<ListedPage, 'ids'>): Service {
  const clock = new FakeClock(undefined, { hasty: true });
  const request = ({ path }: HttpRequest): Promise<HttpAnswer> => {
    const { status = 200, body, headers } = answer(new URL(path, 'http://localhost'));
    return Promise.resolve({
      ...{ status, statusText: '', rawHeaders: [] },
      headers: { 'content-type': 'application/json', ...headers },
      ...{ body: chunks(status === 204 ? '' : JSON.stringify(body)), discard: () => Promise.resolve() },
    });
  };
  return {
    account: { baseUrl: new URL('http://localhost'), apiKey: new Secret('key') },
    dialect: {},
    http: { request, destroy: () => Promise.resolve() },
    messages: createMessages(memory(undefined), { verbose: false, quiet: true }),
    front: commandLine,
    rateGate: new RateGate(clock),
    clock,
    random: () => 0.5,
    signal: new AbortController().signal,
    timeoutMs: 5000,
    retries: 0,
  };
}

// eslint-disable-next-line @typescript-eslint/require-await -- a body is read as it arrives
async function* chunks(body: string): AsyncGenerator<Buffer, void, undefined> {
  if (body !== '') yield Buffer.from(body);
}
