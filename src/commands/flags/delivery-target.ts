import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { unreadable } from '../../files/errors.ts';
import { isLoopback } from '../../config/base-url.ts';
import type { Context } from '../../context.ts';
import { ConfigError, ServiceError, UsageError } from '../../errors.ts';
import type { PostResult } from '../../http/client/poster.ts';
import { proxyFor } from '../../http/client/proxy.ts';
import { explainFailure } from '../../sender/explain-failure.ts';
import { authorityFor, authorityPath } from '../../tls/local-authority.ts';
import type { TrustOptions } from './delivery-flags.ts';

/** Throws a `UsageError` for plain HTTP beyond this machine (specification, section 4.2: a webhook is HTTPS). */
export function rejectPlainHttp({ protocol, hostname, origin }: URL, hint: string, label = ''): void {
  if (protocol !== 'http:' || isLoopback(hostname)) return;
  throw new UsageError(`${label}${origin} is plain HTTP: leads and credentials would travel unencrypted`, {
    hint,
  });
}

/**
 * A receiver that may be delivered to, and how to reach it: `isLocal` says that it is on this machine, and `caFile` is for `curl
 * --cacert`, undefined if curl's own authorities do.
 */
export type ResolvedTarget = Awaited<ReturnType<typeof resolveTarget>>;

/**
 * Throws a `UsageError` for plain HTTP and for `--insecure` beyond this machine, and a `ConfigError` for a file of `--ca` that holds no certificate.
 */
export async function resolveTarget(
  url: URL,
  { ca, insecure = false }: Partial<TrustOptions>,
  { paths, env }: Pick<Context, 'paths' | 'env'>,
) {
  const isLocal = isLoopback(url.hostname);
  rejectPlainHttp(url, 'use https:// (plain http:// is for loopback addresses only)');
  if (insecure && !isLocal) {
    throw new UsageError(`--insecure is for this machine only, not for ${url.hostname}`, {
      hint: 'name the authority of its certificate with --ca FILE',
    });
  }
  const localAuthority = await authorityFor(url, paths.dataDir);
  const typedAuthority = ca === undefined ? undefined : await readCertificates(ca);
  return {
    url,
    isLocal,
    trust: { authorities: [localAuthority, typedAuthority].filter((pem) => pem !== undefined), insecure },
    caFile: ca ?? (localAuthority === undefined ? undefined : authorityPath(paths.dataDir)),
    proxy: proxyFor(url, env),
  };
}

async function readCertificates(file: string): Promise<string> {
  try {
    const pem = await readFile(file, 'utf8');
    new X509Certificate(pem);
    return pem;
  } catch (cause) {
    const { code = '' } = cause as NodeJS.ErrnoException;
    const authority = `the authority in ${file}`;
    const isSystemError = /^E[A-Z]+$/.test(code);
    const noPem = `cannot read ${authority}: it holds no certificate in PEM`;
    throw new ConfigError(isSystemError ? unreadable(authority, cause) : noPem, { option: 'ca', cause });
  }
}

/** Why a delivery was not acknowledged, in one sentence without a full stop. */
export const whyNotAcknowledged = (result: PostResult): string =>
  explainFailure(result.ok ? { status: result.status } : { error: result.code });

/** The error of a run in which no attempt was answered; `code` says why the first one was not. */
export function notReached(code: string, target: ResolvedTarget): ServiceError {
  const { url, proxy } = target;
  const through = proxy === undefined ? '' : ` through the proxy ${proxy.host}`;
  return new ServiceError(`${url.origin} was not reached${through}: ${explainFailure({ error: code })}`, {
    hint: hintFor(code, target),
  });
}

function hintFor(code: string, { url, isLocal, proxy }: ResolvedTarget): string | undefined {
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return 'use a host name that its certificate names';
  if (code === 'CERT_HAS_EXPIRED') return 'renew the certificate';
  if (code === 'CERT_NOT_YET_VALID') return 'is the clock of this machine right?';
  if (code.includes('CERTIFICATE_REQUIRED')) return undefined;
  if (/CERT|SIGNATURE|ISSUER/.test(code)) {
    const insecure = isLocal ? ', or take any certificate of this machine with --insecure' : '';
    return `name the authority that issued it with --ca FILE${insecure}`;
  }
  if (proxy !== undefined) return 'the proxy comes from the environment; NO_PROXY lists hosts that need none';
  if (code === 'ECONNREFUSED') return "is the receiver running? 'leads listen' is one to try with";
  if (code === 'EPROTO' || code === 'ERR_SSL_WRONG_VERSION_NUMBER')
    return isLocal ? 'if it speaks plain HTTP, use http://' : undefined;
  return code === 'ECONNRESET' && url.protocol === 'http:' ? 'if it speaks TLS, use https://' : undefined;
}
