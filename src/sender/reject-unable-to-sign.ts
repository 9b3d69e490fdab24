import { ConfigError } from '../errors.ts';
import type { Key, Scheme } from '../webhook/scheme.ts';

/**
 * Throws at the start what would fail at every delivery: a public key, a component that is not sent. `hint` says how to
 * give the private key.
 */
export function rejectUnableToSign(scheme: Scheme, key: Key, hint: string): void {
  if (key.material.type === 'public') {
    throw new ConfigError(
      `a public key cannot sign: the scheme '${scheme.name}' needs the private one here`,
      { hint },
    );
  }
  scheme.sign({ method: 'POST', url: 'https://localhost/', id: '1', body: Buffer.from('{}') }, key, 0);
}
