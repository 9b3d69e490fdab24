import { isLoopback } from '../../../config/base-url.ts';
import { ServiceError } from '../../../errors.ts';
import type { PostResult } from '../../../http/client/post.ts';
import { explainFailure } from '../../../sender/explain-failure.ts';
import type { ResolvedTarget } from './resolve-target.ts';

/** Why a delivery was not acknowledged, in one sentence without a full stop. */
export const whyNotAcknowledged = (result: PostResult): string =>
  explainFailure(result.ok ? { status: result.status } : { error: result.code });

/** The error of a run in which no attempt was answered. `result`: of the first one. */
export function notReached(result: PostResult, { url, proxy }: ResolvedTarget): ServiceError {
  const through = proxy === undefined ? '' : ` through the proxy ${proxy.host}`;
  return new ServiceError(`${url.origin} was not reached${through}: ${whyNotAcknowledged(result)}`, {
    hint: hintFor(result, url, proxy),
  });
}

/** What to do where nothing was reached. */
function hintFor(
  result: PostResult,
  { protocol, hostname }: URL,
  proxy: URL | undefined,
): string | undefined {
  const code = result.ok ? '' : result.code;
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return 'use a host name that its certificate names';
  if (code === 'CERT_HAS_EXPIRED') return 'renew the certificate';
  if (/CERT|SIGNATURE|ISSUER/.test(code)) {
    const local = isLoopback(hostname) ? ', or take any certificate of this machine with --insecure' : '';
    return `name the authority that issued it with --ca FILE${local}`;
  }
  if (proxy !== undefined) return 'the proxy comes from the environment; NO_PROXY lists hosts that need none';
  if (code === 'ECONNREFUSED') return "is the receiver running? 'leads listen' is one to try with";
  if (code === 'EPROTO' || code === 'ERR_SSL_WRONG_VERSION_NUMBER')
    return 'if it speaks plain HTTP, use http://';
  return code === 'ECONNRESET' && protocol === 'http:' ? 'if it speaks TLS, use https://' : undefined;
}
