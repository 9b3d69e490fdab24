import { isLoopback } from '../../config/base-url.ts';
import type { HttpServer } from '../../http/server/server-types.ts';
import type { Limits } from '../../http/server/limits.ts';
import { openHttpsServer } from '../../http/server/https-server.ts';
import type { MetricFamily } from '../../output/openmetrics/metric-family.ts';
import type { Clock } from '../../time/clock.ts';
import { hostGuard } from '../host-guard.ts';
import { adminAnswers } from './admin-answers.ts';
import type { Readiness } from './readiness.ts';

/** Probes and scrapers are few, near and quick: what one of them may cost is far less than what a delivery may. */
const adminLimits = {
  connections: 64,
  requestMs: 6_000,
  answerMs: 6_000,
  // Shorter than a scraper's interval: connections that somebody keeps open must not keep a probe out.
  idleMs: 3_000,
  bodyBytes: 1024,
  uncheckedBytes: 1024,
  bufferedBytes: 64 * 1024,
};

interface AdminServerOptions {
  /** `::1` without brackets. */
  readonly host: string;
  readonly port: number;
  readonly readiness: Readiness;
  readonly metrics: () => Promise<readonly MetricFamily[]>;
  readonly clock: Pick<Clock, 'now'>;
  readonly onError: (error: unknown) => void;
  /** Limits that differ from those above. */
  readonly limits?: Partial<Limits> | undefined;
}

/** Opens the socket of `--admin`, plain HTTP. Throws a `ConfigError` or `UsageError` when the address cannot be had. */
export function openAdminServer(options: AdminServerOptions): Promise<HttpServer> {
  const { host, port, readiness, metrics, clock, onError, limits } = options;
  return openHttpsServer({
    host,
    port,
    addressFlag: '--admin',
    tls: undefined,
    limits: { ...adminLimits, ...limits },
    clock,
    handle: adminAnswers({
      readiness,
      metrics,
      // A page in a browser on this machine could read it by a name of its own (DNS rebinding).
      hostGuard: isLoopbackAddress(host) ? hostGuard([], () => undefined) : undefined,
    }),
    onError,
  });
}

/** Whether only this machine reaches it. */
export const isLoopbackAddress = (host: string): boolean =>
  isLoopback(host.includes(':') ? `[${host}]` : host);
