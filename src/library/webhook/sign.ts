import type { SignedDelivery, SignedLead, SignOptions } from './sign-options.ts';

/**
 * Signs a delivery with the code that verifies one: for tests of a receiver. Its code is loaded at the first call. Rejects
 * with a `ConfigError` for a key that cannot sign, and as `verify` does for other options.
 *
 * @example
 * await fetch(url, await sign({ id: 'lead_1', category: 'solar' }, { scheme: 'svix', secrets: secret }));
 */
export async function sign(lead: SignedLead, options: SignOptions): Promise<SignedDelivery> {
  const { signDelivery } = await import('./sign-delivery.ts');
  return signDelivery(lead, options);
}
