import type { HttpClient, HttpClientOptions } from './http-client.ts';
import { type CloseConnection, failure, sendAlone } from './lone-request.ts';
import { proxyFor } from './proxy.ts';

/**
 * The client of a run that as a rule sends one request. undici is loaded for the second one, for a request with a body, and
 * where the environment names a proxy.
 */
export function createQuickClient(options: HttpClientOptions): HttpClient {
  const open = new Set<CloseConnection>();
  let isFirst = true;
  let agent: Promise<HttpClient> | undefined;
  return {
    async request(request) {
      const { origin, method, body } = request;
      const isPlain = (method === 'GET' || method === 'HEAD') && body === undefined;
      if (isFirst && isPlain && proxyFor(new URL(origin), options.env) === undefined) {
        isFirst = false;
        return sendAlone(request, options, open);
      }
      agent ??= import('./agent.ts').then(({ createProcessAgent }) => createProcessAgent(options));
      return (await agent).request(request);
    },
    async destroy() {
      for (const close of open) close(failure('UND_ERR_DESTROYED', 'The client is destroyed'));
      await (await agent)?.destroy();
    },
  };
}
