import { shellWord } from '../front.ts';
import type { Explanation, Fix } from '../webhook/explain/explain-delivery.ts';

/**
 * Returns the fix as words for a POSIX shell, in which a variable holds the secret: the flags with which a receiver accepts
 * such deliveries, and for `capture` a further one with which `leads verify` accepts this one capture; no receiver has it.
 * Undefined for a shell of Windows where the fix needs quotes, because those shells have no common ones.
 */
export function fixFlags(fix: Fix, platform: string) {
  const { currentScheme, scheme, secret, signedAt } = fix;
  const flags: string[] = [];
  const members = Object.entries(scheme ?? {}).filter(([, value]) => value !== undefined);
  const fixedScheme = scheme === undefined ? currentScheme : (scheme['scheme'] ?? 'custom');
  const isNameAlone = members.length === 1 && scheme?.['scheme'] !== undefined;
  if (isNameAlone) flags.push(`--scheme ${fixedScheme}`);
  else if (scheme !== undefined) {
    flags.push(`--scheme ${shellWord(inAscii(JSON.stringify(Object.fromEntries(members))))}`);
  }
  const variable = currentScheme === 'token' ? 'LEADS_WEBHOOK_TOKEN' : 'LEADS_WEBHOOK_SECRET';
  const isToken = fixedScheme === 'token';
  // A token has a flag of its own, so a change from or to a token names the secret as well.
  if (secret !== undefined || isToken !== (currentScheme === 'token')) {
    const value = (secret?.shell ?? '"$SECRET"').replaceAll('SECRET', variable);
    flags.push(`--${isToken ? 'token' : 'secret'} ${value}`);
  }
  // Only `--scheme NAME` does without quotes.
  const needsQuotes = flags.length > (isNameAlone ? 1 : 0);
  if (platform === 'win32' && needsQuotes) return undefined;
  return {
    receiver: flags.join(' '),
    capture: signedAt === undefined ? '' : `--at ${new Date(signedAt).toISOString()}`,
  };
}

/** A header may hold any byte, and a terminal does not show each of them. */
const inAscii = (json: string): string =>
  json.replace(/[^ -~]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** Returns advice for the operator of a receiver, which still rejects the delivery. */
export function explanationLines({ sentence, fix }: Explanation, platform: string): readonly string[] {
  if (sentence === undefined) return [];
  const flags = fix === undefined ? undefined : fixFlags(fix, platform);
  return flags !== undefined && flags.receiver !== '' && flags.capture === ''
    ? [sentence, `To take such deliveries, as flags of 'leads listen': ${flags.receiver}`]
    : [sentence];
}
