import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { checkServerIdentity, type ConnectionOptions } from 'node:tls';
import { ConfigError } from '../../../../errors.ts';
import type { DatabaseHost, DatabaseUrl } from '../address/database-url.ts';
import { sslModeFor } from './ssl-mode.ts';

/**
 * What the TLS connection to a host is made with; undefined: it is not encrypted. Files are read anew for each connection,
 * so that certificates can be renewed while a receiver runs. Throws a `ConfigError` for a file that cannot be read.
 */
export async function tlsOptions(
  url: DatabaseUrl,
  host: DatabaseHost,
): Promise<ConnectionOptions | undefined> {
  const mode = sslModeFor(url, host);
  if (mode === 'disable') return undefined;
  const { sslRootCert, sslCert, sslKey } = url;
  const ca = sslRootCert === 'system' ? undefined : await readPem('sslrootcert', sslRootCert);
  const cert = await readPem('sslcert', sslCert);
  const key = await readPem('sslkey', sslKey);
  return {
    // Without `ca`, node's usual authorities and those of NODE_EXTRA_CA_CERTS.
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
    ...(isIP(host.name) === 0 ? { servername: host.name } : {}),
    minVersion: 'TLSv1.2',
    rejectUnauthorized: mode !== 'require',
    checkServerIdentity: (_name, certificate) =>
      mode === 'verify-full' ? checkServerIdentity(host.name, certificate) : undefined,
  };
}

async function readPem(parameter: string, path: string | undefined): Promise<string | undefined> {
  if (path === undefined) return undefined;
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    throw new ConfigError(`cannot read the ${parameter} of the database, ${path}: ${code ?? String(cause)}`, {
      cause,
    });
  }
}
