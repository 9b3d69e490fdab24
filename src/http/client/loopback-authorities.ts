import { readFile } from 'node:fs/promises';
import { isLoopback } from '../../config/base-url.ts';
import type { HttpClientOptions } from './http-client.ts';

/**
 * The only authorities, as PEM, by which an https loopback address is trusted. Empty for other addresses, and as long as we
 * have no local authority: these are trusted as node does.
 */
export async function loopbackAuthorities(
  { protocol, hostname }: URL,
  { env, dataDir }: HttpClientOptions,
): Promise<string[]> {
  if (dataDir === undefined || protocol !== 'https:' || !isLoopback(hostname)) return [];
  const { readAuthority } = await import('../../tls/local-authority.ts');
  const own = await readAuthority(dataDir);
  if (own === undefined) return [];
  const file = env['NODE_EXTRA_CA_CERTS'];
  // node itself warns of a file that it cannot read.
  const extra = file ? await readFile(file, 'utf8').catch(() => '') : '';
  return [own, ...(extra === '' ? [] : [extra])];
}
