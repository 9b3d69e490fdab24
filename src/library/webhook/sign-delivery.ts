import { anyScheme } from './any-scheme.ts';
import { randomUUID } from 'node:crypto';
import { ConfigError } from '../../errors.ts';
import { signRequest } from '../../sender/sign-request.ts';
import { checkOptions, choiceOptions, type OptionNames } from './option-names.ts';
import { makeVerifier } from './make-verifier.ts';
import { asBytes } from './lead.ts';
import type { SchemeChoice, SignedDelivery, SignedLead, SignOptions } from './options.ts';

/** Of a choice that `verify` has too, what only a check needs has no effect. */
const signOptions: OptionNames<SignOptions & SchemeChoice> = {
  ...choiceOptions,
  url: true,
  id: true,
  now: true,
};

export async function signDelivery(lead: SignedLead, options: SignOptions): Promise<SignedDelivery> {
  await checkOptions(options, signOptions, 'sign');
  const { url, id = `msg_${randomUUID().replaceAll('-', '')}`, now = Date.now() } = options;
  const { scheme, keys } = await makeVerifier(
    { scheme: options.scheme, secrets: options.secrets },
    anyScheme,
  );
  if (scheme.signsUrl && url === undefined) {
    throw new ConfigError(`the scheme '${scheme.name}' signs the URL, and none is given`, {
      hint: 'give url, the address that the delivery is sent to',
    });
  }
  const body = bytesOf(lead);
  const target = new URL(url ?? 'https://localhost/').href;
  const content = { id, target, body };
  try {
    const signed = signRequest({ scheme, key: keys[0] }, content, now);
    const headers = signed.headers.map(([name, value]) => [name.toLowerCase(), value] as const);
    return { method: 'POST', headers: Object.fromEntries(headers), body };
  } catch (thrown) {
    const { schemeError } = await import('./scheme-errors.ts');
    throw schemeError(thrown);
  }
}

function bytesOf(lead: SignedLead): Uint8Array<ArrayBuffer> {
  if (typeof lead === 'string') return Uint8Array.from(Buffer.from(lead));
  const bytes = asBytes(lead) ?? asBytes('bytes' in lead ? lead.bytes : undefined);
  return Uint8Array.from(bytes ?? Buffer.from(JSON.stringify(lead)));
}
