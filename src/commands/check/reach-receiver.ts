import { type Endpoint, openSocket } from '../../check/wire/endpoint.ts';
import type { ExchangeOptions } from '../../check/wire/http-exchange.ts';
import { ServiceError } from '../../errors.ts';
import { limitTime } from '../../http/client/limit-time.ts';
import { explainFailure } from '../../sender/explain-failure.ts';

/**
 * Connects once, with TLS where the URL says so. Throws a `ServiceError` (exit 5) when that fails: then no probe would say
 * anything. What is behind a proxy is found out by the probes.
 */
export async function reachReceiver(
  endpoint: Endpoint,
  { timeoutMs, signal }: ExchangeOptions,
): Promise<void> {
  if (endpoint.proxy !== undefined) return;
  const limit = limitTime(timeoutMs, signal);
  try {
    const socket = await openSocket(endpoint, limit.signal);
    socket.destroy();
  } catch (cause) {
    signal.throwIfAborted();
    const { code, name } = cause as NodeJS.ErrnoException;
    const error = limit.reason() ?? code ?? name;
    throw new ServiceError(`cannot reach ${endpoint.url.origin}: ${explainFailure({ error })}`, {
      hint: hintFor(error),
      cause,
    });
  } finally {
    limit.clear();
  }
}

function hintFor(code: string): string | undefined {
  if (/CERT|SIGNATURE|ISSUER/.test(code)) {
    return 'name its authority with --ca FILE; --insecure takes any certificate of a receiver on this machine';
  }
  return code === 'ECONNREFUSED' ? "start the receiver first, or 'leads listen' to try this out" : undefined;
}
