import type { Delivery } from '../delivery.ts';
import type { Key, Scheme } from '../scheme.ts';
import { bodyForms } from './body-forms.ts';

/** Tries the same scheme and keys on a delivery that differs a little. */
export function explainChangedDelivery(
  delivery: Delivery,
  scheme: Scheme,
  keys: readonly Key[],
): string | undefined {
  const matches = (other: Partial<Delivery>): boolean =>
    scheme.authenticate({ ...delivery, ...other }, keys).ok;
  const lowerCased = delivery.rawHeaders.map(
    ([name, value]) =>
      [name, scheme.credentialHeaders.includes(name.toLowerCase()) ? value.toLowerCase() : value] as const,
  );
  if (matches({ rawHeaders: lowerCased })) return 'The signature is right, but written in capital letters.';
  for (const url of scheme.signsUrl ? otherUrls(delivery) : []) {
    if (matches({ url })) {
      return `The signature was made for ${url}, but the delivery came to ${delivery.url}: something in front changed it. To take such deliveries: --public-url ${url.replace(/[?#].*$/, '')}`;
    }
  }
  if (scheme.name === 'token') return undefined;
  const form = bodyForms(delivery.body).find(({ bytes }) => matches({ body: bytes }));
  return form && changedBody(form.what);
}

export const changedBody = (what: string): string =>
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
