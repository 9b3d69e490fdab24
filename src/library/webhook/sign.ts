import { randomUUID } from 'node:crypto';
import { ConfigError } from '../../errors.ts';
import { signRequest } from '../../sender/sign-request.ts';
import type { Lead } from './lead.ts';
import { makeVerifier } from './make-verifier.ts';
import { namingOptions } from './option-names.ts';
import { asBytes } from './request/as-bytes.ts';
import type { SchemeChoice } from './scheme-choice.ts';

export interface SignOptions extends Omit<SchemeChoice, 'toleranceMs' | 'publicUrl'> {
  /** Where it will be sent; needed where the scheme signs the URL. */
  readonly url?: string | URL | undefined;
  /** Of the delivery, the same for each attempt, where the scheme sends one. Default: a new one. */
  readonly id?: string | undefined;
  /** The time to sign, in milliseconds since the epoch. Default: now. */
  readonly now?: number | undefined;
}

/** A request as the service would send it: the second argument of `fetch`. */
export interface SignedDelivery {
  readonly method: 'POST';
  readonly headers: Record<string, string>;
  readonly body: Uint8Array<ArrayBuffer>;
}

/**
 * Signs a delivery with the code that verifies one: for tests of a receiver. A lead is given as its bytes, its JSON text, an
 * object that is written as JSON here, or a lead that was received, whose bytes are sent as they came. Rejects with a
 * `ConfigError` for a key that cannot sign, and as `verify` does for other options.
 *
 * @example
 * await fetch(url, await sign({ id: 'lead_1', category: 'solar' }, { scheme: 'svix', secrets: secret }));
 */
export async function sign(
  lead: Lead | Uint8Array | string | Readonly<Record<string, unknown>>,
  options: SignOptions,
): Promise<SignedDelivery> {
  const { url, id = `msg_${randomUUID().replaceAll('-', '')}`, now = Date.now() } = options;
  const { scheme, keys } = await makeVerifier({ scheme: options.scheme, secrets: options.secrets });
  if (scheme.signsUrl && url === undefined) {
    throw new ConfigError(`the scheme '${scheme.name}' signs the URL, and none is given`, {
      hint: 'give url, the address that the delivery is sent to',
    });
  }
  const body = bytesOf(lead);
  const target = new URL(url ?? 'https://localhost/').href;
  const content = { id, target, body };
  const signed = namingOptions(() => signRequest({ scheme, key: keys[0] }, content, now));
  return { method: 'POST', headers: Object.fromEntries(signed.headers), body };
}

function bytesOf(lead: Parameters<typeof sign>[0]): Uint8Array<ArrayBuffer> {
  if (typeof lead === 'string') return Uint8Array.from(Buffer.from(lead));
  const bytes = asBytes(lead) ?? asBytes('bytes' in lead ? lead.bytes : undefined);
  return Uint8Array.from(bytes ?? Buffer.from(JSON.stringify(lead)));
}
