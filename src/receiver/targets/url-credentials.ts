import { Secret } from '../../secret.ts';

/** The user and password of a URL, for the one header that carries them. */
export interface UrlCredentials {
  /** `Basic …` (RFC 7617). */
  readonly authorization: Secret;
  /** Every text that must not be shown. */
  readonly secrets: readonly Secret[];
}

/** Takes the credentials out of a URL, so that the rest can be shown and stored. */
export function splitCredentials(url: URL): { readonly bare: URL; readonly credentials?: UrlCredentials } {
  const [user, password] = [decoded(url.username), decoded(url.password)];
  const bare = new URL(url);
  bare.username = '';
  bare.password = '';
  if (user === '' && password === '') return { bare };
  const basic = Buffer.from(`${user}:${password}`, 'utf8').toString('base64');
  const secrets = [basic, password].filter((text) => text !== '').map((text) => new Secret(text));
  return { bare, credentials: { authorization: new Secret(`Basic ${basic}`), secrets } };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    // A percent sign that begins no escape stands for itself.
    return part;
  }
}
