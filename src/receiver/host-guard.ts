import { isLoopback } from '../config/base-url.ts';
import { type Delivery, headerValues } from '../webhook/delivery.ts';
import { type Rejection, rejection } from '../webhook/delivery-answer.ts';

export type HostGuard = (delivery: Pick<Delivery, 'url' | 'rawHeaders'>) => Rejection | undefined;

/**
 * Rejects requests that a page in a browser on this machine may have sent: its own host name can resolve to a loopback address
 * (DNS rebinding), so that it reaches a server that asks for no credential. `Host`, and `Origin` where one is sent, must be a
 * loopback name or `ownHost`, as in a URL: IPv6 in brackets. `onForeign` gets a foreign `Host`, which a tunnel may send as well; it
 * is not called for an `Origin`, which only browsers send.
 */
export function hostGuard(ownHost: string | undefined, onForeign?: (host: string) => void): HostGuard {
  const isOwn = (url: string): boolean => {
    if (!URL.canParse(url)) return false;
    const { hostname } = new URL(url);
    return isLoopback(hostname) || hostname === ownHost?.toLowerCase();
  };
  return (delivery) => {
    const urls = [delivery.url, ...headerValues(delivery, 'host').map((host) => `http://${host}`)];
    const foreign = urls.find((url) => !isOwn(url));
    if (foreign !== undefined) {
      const host = foreign.replace(/^https?:\/\//i, '').replace(/\/.*/, '');
      onForeign?.(host);
      return rejection('foreign_host', `the request is for the host '${host}'`);
    }
    const origin = headerValues(delivery, 'origin').find((value) => !isOwn(value));
    return origin === undefined
      ? undefined
      : rejection('foreign_host', `the request comes from a page of '${origin}'`);
  };
}
