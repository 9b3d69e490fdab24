import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { resolveTarget } from '../../../src/commands/flags/delivery-target.ts';
import { receiverUrl, type TrustOptions } from '../../../src/commands/flags/delivery-flags.ts';
import { ConfigError, UsageError } from '../../../src/errors.ts';
import { ensureAuthority } from '../../../src/tls/local-authority.ts';
import { freshHome } from '../../support/run.ts';

const resolve = async (url: string, options: Partial<TrustOptions> = {}, dataDir = freshHome()) =>
  resolveTarget(
    new URL(url),
    { ca: undefined, insecure: false, ...options },
    { paths: { configDir: '', dataDir }, env: {} },
  );

test('plain HTTP goes to this machine only', async () => {
  await expect(resolve('http://example.com/')).rejects.toThrow(UsageError);
  expect((await resolve('http://127.0.0.1:1/')).isLocal).toBe(true);
});

test('--insecure is for this machine only', async () => {
  await expect(resolve('https://example.com/', { insecure: true })).rejects.toThrow(UsageError);
  expect((await resolve('https://localhost/', { insecure: true })).trust.insecure).toBe(true);
});

test('our own authority is trusted on this machine, and named for curl', async () => {
  const dataDir = freshHome();
  const { caPem } = await ensureAuthority(dataDir, { now: () => Date.now() });
  const local = await resolve('https://localhost/', {}, dataDir);
  expect(local.trust.authorities).toEqual([caPem]);
  expect(existsSync(local.caFile ?? '')).toBe(true);
  const other = await resolve('https://example.com/', {}, dataDir);
  expect([other.trust.authorities, other.caFile]).toEqual([[], undefined]);
});

test('--ca adds an authority for any host, and a file without a certificate is an error', async () => {
  const dataDir = freshHome();
  const { caPem, caPath } = await ensureAuthority(dataDir, { now: () => Date.now() });
  const target = await resolve('https://example.com/', { ca: caPath });
  expect([target.trust.authorities, target.caFile]).toEqual([[caPem], caPath]);
  const empty = join(dataDir, 'empty.pem');
  await writeFile(empty, 'nothing');
  await expect(resolve('https://example.com/', { ca: empty })).rejects.toThrow(ConfigError);
  await expect(resolve('https://example.com/', { ca: join(dataDir, 'missing') })).rejects.toMatchObject({
    message: expect.stringContaining('there is no such file') as string,
  });
});

test('a URL with credentials is refused without showing them, and a fragment is dropped', () => {
  expect(() => receiverUrl.parse('https://user:hunter2@example.com/')).toThrow(/^the URL holds/);
  expect(receiverUrl.parse('https://example.com/a#b')?.href).toBe('https://example.com/a');
});
