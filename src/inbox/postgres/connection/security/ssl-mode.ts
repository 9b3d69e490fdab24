import { type DatabaseHost, type DatabaseUrl, isLocal, type SslMode } from '../address/database-url.ts';

type SslParts = Pick<DatabaseUrl, 'sslMode' | 'sslRootCert' | 'sslCert'>;

/**
 * The mode that is in force for one of the hosts. Beyond this machine it is `verify-full` unless the URL says weaker; a
 * unix socket has no TLS. With `sslrootcert`, libpq's `require` verifies the authority.
 */
export function sslModeFor({ sslMode, sslRootCert, sslCert }: SslParts, host: DatabaseHost): SslMode {
  if (host.isSocket) return 'disable';
  if (sslMode === 'require' && sslRootCert !== undefined) {
    return sslRootCert === 'system' ? 'verify-full' : 'verify-ca';
  }
  if (sslMode !== undefined) return sslMode;
  const asksForTls = sslRootCert !== undefined || sslCert !== undefined;
  return isLocal(host) && !asksForTls ? 'disable' : 'verify-full';
}
