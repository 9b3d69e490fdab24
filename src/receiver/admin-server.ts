import { isLoopbackAddress } from '../config/base-url.ts';
import { messageOf } from '../errors.ts';
import { openHttpsServer } from '../http/server/https-server.ts';
import type { Answer, HttpServer, HttpServerOptions } from '../http/server/server-options.ts';
import type { Inbox } from '../inbox/inbox.ts';
import { type MetricFamily, openMetricsText, openMetricsType } from '../output/openmetrics.ts';
import { type Clock, slept } from '../time/clock.ts';
import { headerValues, pathOf } from '../webhook/delivery.ts';
import { hostGuard } from './host-guard.ts';

/** Probes and scrapers are few, near and quick: they may cost far less than deliveries. */
const adminLimits = {
  connections: 64,
  requestMs: 6_000,
  answerMs: 6_000,
  // This is shorter than a scraper's interval: connections that a client keeps open must not keep a probe out.
  idleMs: 3_000,
  bodyBytes: 1024,
  uncheckedBytes: 1024,
  bufferedBytes: 64 * 1024,
};

interface AdminServerOptions extends Pick<
  HttpServerOptions,
  'host' | 'port' | 'addressOption' | 'clock' | 'onError' | 'limits'
> {
  readonly whyNotReady: () => Promise<string | undefined>;
  readonly metrics: () => Promise<readonly MetricFamily[]>;
}

/** Opens the socket for probes and scrapers, plain HTTP. Throws a `ConfigError` or `UsageError` when the address cannot be had. */
export function openAdminServer(options: AdminServerOptions): Promise<HttpServer> {
  const limits = { ...adminLimits, ...options.limits };
  return openHttpsServer({ ...options, tls: undefined, limits, handle: adminAnswers(options) });
}

/** Answers `/livez`, `/readyz` and `/metrics`. Nothing here needs a credential, shows one, or changes anything. */
function adminAnswers({ host, whyNotReady, metrics }: AdminServerOptions): HttpServerOptions['handle'] {
  // Against pages in a browser on this machine. An address beyond loopback has names that are not known here.
  const guard = isLoopbackAddress(host) ? hostGuard(undefined) : undefined;
  const routes: Readonly<Record<string, () => Promise<Answer>>> = {
    '/livez': () => Promise.resolve(line(200, 'alive')),
    '/readyz': async () => {
      const problem = await whyNotReady();
      return problem === undefined ? line(200, 'ready') : line(503, `not ready: ${problem}`);
    },
    '/metrics': async () => text(200, openMetricsText(await metrics()), openMetricsType),
  };
  return async (request) => {
    // HTTP/1.0 has no Host, and no browser speaks it.
    if (headerValues(request, 'host').length > 0 && guard?.(request) !== undefined) {
      return line(403, 'this is for another Host or Origin');
    }
    const path = pathOf(request);
    const route = Object.hasOwn(routes, path) ? routes[path] : undefined;
    if (route === undefined) {
      return line(404, `there is nothing here: try ${Object.keys(routes).join(', ')}`);
    }
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      return line(405, 'GET or HEAD only', { allow: 'GET, HEAD' });
    }
    return route();
  };
}

const text = (status: number, content: string, type: string, headers?: Answer['headers']): Answer => ({
  status,
  text: { type, content },
  headers: { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff', ...headers },
});

const line = (status: number, content: string, headers?: Answer['headers']): Answer =>
  text(status, `${content}\n`, 'text/plain; charset=utf-8', headers);

/** A write to the inbox answers for those who ask this much later at most, and may take so long, in milliseconds. */
const freshMs = 1000;
const longestWriteMs = 2000;

/**
 * Makes the function that says in one line why no delivery is to be sent here; undefined when all is well. The inbox is asked to
 * write, since it would stay not ready otherwise: once no delivery is sent here, nothing else shows that it has recovered. Many
 * who ask at the same time cost one write.
 */
export function readiness(
  inbox: Pick<Inbox, 'checkWritable'>,
  clock: Pick<Clock, 'steady' | 'sleep'>,
  stopping: AbortSignal,
): AdminServerOptions['whyNotReady'] {
  let problem: Promise<string | undefined> = Promise.resolve(undefined);
  let triedAt = -Infinity;
  const tryToWrite = (): Promise<string | undefined> => {
    const timer = new AbortController();
    const written = inbox.checkWritable().then(() => undefined, messageOf);
    const tooSlow = slept(clock, longestWriteMs, timer.signal).then(
      () => `the inbox has not written for ${longestWriteMs / 1000} s`,
    );
    return Promise.race([written, tooSlow]).finally(() => timer.abort());
  };
  return async () => {
    if (stopping.aborted) return 'draining: it is about to end';
    const now = clock.steady();
    if (now - triedAt >= freshMs) {
      triedAt = now;
      problem = tryToWrite();
    }
    return (await problem)?.replace(/\s+/g, ' ');
  };
}
