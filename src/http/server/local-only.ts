import { isLoopback } from '../../config/base-url.ts';
import { type Answer, failure } from './answer.ts';
import type { Incoming } from './plain-server.ts';

/**
 * Control and truth are for this machine alone, and not for a page in its browser: the peer must be a loopback
 * address, `Host` must name one (or a page could rebind its own name to us), and `Origin`, which browsers send with
 * whatever crosses origins, must be ours. The refusal, or undefined.
 */
export function rejectRemote(request: Incoming, ownOrigin: string): Answer | undefined {
  const { host, origin } = request.headers;
  const ownPort = new URL(ownOrigin).port;
  const named = URL.canParse(`http://${host ?? ''}`) ? new URL(`http://${host ?? ''}`) : undefined;
  const sound =
    /^(127\.|::1$|::ffff:127\.)/.test(request.remote) &&
    named !== undefined &&
    isLoopback(named.hostname) &&
    (origin === undefined || isOwn(origin, ownOrigin, ownPort));
  return sound ? undefined : failure(403, 'forbidden', 'Only programs on this machine may do this.');
}

function isOwn(origin: string, ownOrigin: string, ownPort: string): boolean {
  if (!URL.canParse(origin)) return false;
  const { protocol, hostname, port } = new URL(origin);
  return protocol === new URL(ownOrigin).protocol && isLoopback(hostname) && port === ownPort;
}
