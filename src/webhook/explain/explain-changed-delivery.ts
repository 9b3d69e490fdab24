import type { Delivery } from '../delivery.ts';
import type { Key, Scheme } from '../scheme.ts';
import { type BodyForm, bodyForms } from './body/body-forms.ts';
import { customFlags } from './custom-flags.ts';
import { type Finding, type Search, shellWord } from './finding.ts';
import { searchSignature } from './search-signature.ts';
import { keyForms } from './secret/key-forms.ts';

/** Tries the same scheme and keys on a delivery that differs a little. */
export function explainChangedDelivery(
  delivery: Delivery,
  scheme: Scheme,
  keys: readonly Key[],
  search: Search,
): Finding | undefined {
  const matches = (other: Partial<Delivery>): boolean =>
    search.matches(scheme, { ...delivery, ...other }, keys);
  const lowerCased = delivery.rawHeaders.map(
    ([name, value]) =>
      [name, scheme.credentialHeaders.includes(name.toLowerCase()) ? value.toLowerCase() : value] as const,
  );
  if (matches({ rawHeaders: lowerCased })) {
    const match = searchSignature(delivery, keyForms(keys), search);
    return {
      what: 'The signature is right, but written in capital letters.',
      flags: match && customFlags(match, scheme.name),
    };
  }
  for (const url of scheme.signsUrl ? otherUrls(delivery) : []) {
    if (matches({ url })) {
      const what = `The signature was made for ${url}, but the delivery came to ${delivery.url}: something in front changed it.`;
      return { what, flags: `--public-url ${shellWord(url.replace(/[?#].*$/, ''))}` };
    }
  }
  if (scheme.name === 'token') return undefined;
  const form = bodyForms(delivery.body).find(({ bytes }) => matches({ body: bytes }));
  return form && { what: changedBody(form), captureFlags: bodyFlag(form) };
}

export const bodyFlag = ({ name }: Pick<BodyForm, 'name'>): string => `--body-form ${name}`;

export const changedBody = ({ what }: Pick<BodyForm, 'what'>): string =>
  `The signature was made over ${what}, not over the bytes that came: sign what is sent, or look for what changed it on its way.`;

/** The URLs that a proxy may have received, which ends TLS or passes on another host. */
function otherUrls(delivery: Delivery): readonly string[] {
  const url = URL.canParse(delivery.url) ? new URL(delivery.url) : undefined;
  if (url === undefined) return [];
  const header = (name: string): string | undefined =>
    delivery.rawHeaders.find(([key]) => key.toLowerCase() === name)?.[1];
  const hosts = [header('x-forwarded-host'), header('x-original-host'), header('host'), url.host];
  return hosts.flatMap((host) =>
    host !== undefined && /^[\w.:[\]-]{1,253}$/.test(host)
      ? ['https', 'http'].map((protocol) => `${protocol}://${host}${delivery.path}`)
      : [],
  );
}
