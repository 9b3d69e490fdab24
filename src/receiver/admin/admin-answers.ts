import type { Answer } from '../../http/server/request/send-answer.ts';
import {
  type MetricFamily,
  openMetricsText,
  openMetricsType,
} from '../../output/openmetrics/metric-family.ts';
import type { Delivery } from '../../webhook/delivery.ts';
import { headerValues } from '../../webhook/delivery.ts';
import type { HostGuard } from '../host-guard.ts';
import type { Readiness } from './readiness.ts';

interface AdminAnswersOptions {
  readonly readiness: Pick<Readiness, 'whyNot'>;
  readonly metrics: () => Promise<readonly MetricFamily[]>;
  /** Undefined where other machines are to ask. */
  readonly hostGuard: HostGuard | undefined;
}

type AdminAnswer = (request: Delivery) => Promise<Answer>;

/** Answers `/livez`, `/readyz` and `/metrics`. Nothing here needs a credential, shows one, or changes anything. */
export function adminAnswers({ readiness, metrics, hostGuard }: AdminAnswersOptions): AdminAnswer {
  const routes: Readonly<Record<string, () => Promise<Answer>>> = {
    '/livez': () => Promise.resolve(line(200, 'alive')),
    '/readyz': async () => {
      const problem = await readiness.whyNot();
      return problem === undefined ? line(200, 'ready') : line(503, `not ready: ${problem}`);
    },
    '/metrics': async () => text(200, openMetricsText(await metrics()), openMetricsType),
  };
  return async (request) => {
    // HTTP/1.0 has no Host, and no browser speaks it.
    if (headerValues(request, 'host').length > 0 && hostGuard?.(request) !== undefined) {
      return line(403, 'this is for another Host or Origin');
    }
    const path = pathOf(request);
    const route = Object.hasOwn(routes, path) ? routes[path] : undefined;
    if (route === undefined) {
      return line(404, `there is nothing here: try ${Object.keys(routes).join(', ')}`);
    }
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      return withHeaders(line(405, 'GET or HEAD only'), { allow: 'GET, HEAD' });
    }
    return route();
  };
}

/** A target may be a whole URL (RFC 9112, section 3.2.2). */
function pathOf({ path }: Delivery): string {
  if (path.startsWith('/')) return path.split('?')[0] ?? '';
  return URL.canParse(path) ? new URL(path).pathname : '';
}

const text = (status: number, content: string, type: string): Answer => ({
  status,
  text: { type, content },
  headers: { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' },
});

const line = (status: number, content: string): Answer =>
  text(status, `${content}\n`, 'text/plain; charset=utf-8');

const withHeaders = (answer: Answer, headers: NonNullable<Answer['headers']>): Answer => ({
  ...answer,
  headers: { ...answer.headers, ...headers },
});
