import { isLoopback } from '../../config/base-url.ts';
import type { PlainRequest } from './plain-server.ts';

/**
 * Whether a request comes from a program on this machine, and not from a page in its browser: the peer must be a
 * loopback address, `Host` must name one (a page could let its own name resolve to us), and `Origin`, which browsers
 * send with requests across origins, must be ours.
 */
export function isFromThisMachine(
  { remote, headers: { host, origin } }: Pick<PlainRequest, 'remote' | 'headers'>,
  ownOrigin: string,
): boolean {
  const hostUrl = `http://${host ?? ''}`;
  return (
    /^(127\.|::1$|::ffff:127\.)/.test(remote) &&
    URL.canParse(hostUrl) &&
    isLoopback(new URL(hostUrl).hostname) &&
    (origin === undefined || isOwnOrigin(origin, new URL(ownOrigin)))
  );
}

/** Every loopback name of this machine is ours, as long as protocol and port are the same. */
function isOwnOrigin(origin: string, own: URL): boolean {
  if (!URL.canParse(origin)) return false;
  const { protocol, hostname, port } = new URL(origin);
  return protocol === own.protocol && isLoopback(hostname) && port === own.port;
}
