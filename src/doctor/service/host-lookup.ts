import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { limitTime } from '../../http/client/limit-time.ts';
import { type CheckResult, checkNamed } from '../check-result.ts';
import type { Connection } from './connection.ts';

/** Whether the service's host name leads to an address. */
export async function checkHostLookup({
  baseUrl,
  proxy,
  timeoutMs,
  signal,
}: Connection): Promise<CheckResult> {
  const check = checkNamed('service.dns');
  const host = baseUrl.hostname.replace(/^\[|\]$/g, '');
  if (isIP(host) !== 0) return check.pass(`${host} is an address`);
  if (proxy !== undefined) return check.skip(`the proxy ${proxy.host} looks names up`);
  const limit = limitTime(timeoutMs, signal);
  try {
    const isOver = new Promise<never>((_, reject) => {
      limit.signal.addEventListener('abort', () => reject(new Error('no answer came in time')), {
        once: true,
      });
    });
    const found = await Promise.race([lookup(host, { all: true }), isOver]);
    const addresses = found.map(({ address }) => address);
    const others = addresses.length > 2 ? ` and ${addresses.length - 2} more` : '';
    return check.pass(`${host} is ${addresses.slice(0, 2).join(', ')}${others}`);
  } catch (error) {
    signal.throwIfAborted();
    const { code, message } = error as NodeJS.ErrnoException;
    const why = code === 'ENOTFOUND' ? 'there is no such host' : (code ?? message);
    return check.fail(
      `${host} cannot be looked up: ${why}`,
      "check the base URL ('leads config get base-url') and this machine's DNS",
    );
  } finally {
    limit.clear();
  }
}
