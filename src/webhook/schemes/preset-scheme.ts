import { type Delivery, headerValues } from '../delivery.ts';
import { fieldName } from '../headers.ts';
import { branded, type Preset } from '../presets.ts';
import type { SchemeOptions } from '../scheme-options.ts';
import type { Scheme } from '../scheme.ts';
import { defaultToleranceMs } from '../timestamp.ts';
import { type ReadPair, templateScheme } from './template-scheme.ts';

/** A vendor's scheme. Throws a `ConfigError` for a `headerPrefix` that no header can begin with. */
export function presetScheme(
  preset: Preset,
  { headerPrefix, toleranceMs }: Pick<SchemeOptions, 'headerPrefix' | 'toleranceMs'>,
  readPair: ReadPair,
): Scheme {
  const isBranded = preset.name === 'standard-webhooks' && headerPrefix !== undefined;
  const named = isBranded ? branded(preset, fieldName(headerPrefix)) : preset;
  const options = { ...named, toleranceMs: toleranceMs ?? named.toleranceMs ?? defaultToleranceMs };
  const scheme = templateScheme(options, readPair);
  if (named.otherNames === undefined) return scheme;
  return firstSent(
    scheme,
    named.otherNames.map((names) => templateScheme({ ...options, ...names }, readPair)),
  );
}

/**
 * One scheme under several names of its headers: a delivery is checked by the first whose signature it carries, never by
 * a mixture of them. Signs as the first one does.
 */
function firstSent(first: Scheme, others: readonly Scheme[]): Scheme {
  const schemes = [first, ...others];
  return {
    ...first,
    credentialHeaders: schemes.flatMap((scheme) => scheme.credentialHeaders),
    authenticate(delivery, keys) {
      const sent = schemes.find(({ credentialHeaders }) =>
        credentialHeaders.some((name) => headerValues(delivery, name).length > 0),
      );
      return (sent ?? first).authenticate(delivery, keys);
    },
  };
}

/**
 * For schemes that sign the URL, behind a proxy that rewrites it: a delivery that does not match with its own URL is also
 * checked with the public one. A public URL with a path stands for the request's path, one with a query also for its query.
 */
export function withPublicUrl(scheme: Scheme, publicUrl: URL | undefined): Scheme {
  if (publicUrl === undefined || !scheme.signsUrl) return scheme;
  return {
    ...scheme,
    authenticate(delivery, keys) {
      const asReceived = scheme.authenticate(delivery, keys);
      if (asReceived.ok) return asReceived;
      const asSent = scheme.authenticate(atPublicUrl(delivery, publicUrl), keys);
      return asSent.ok ? asSent : asReceived;
    },
  };
}

function atPublicUrl(delivery: Delivery, { origin, pathname, search }: URL): Delivery {
  const [ownPath = '/', ...rest] = delivery.path.split('?');
  const ownQuery = rest.length === 0 ? '' : `?${rest.join('?')}`;
  const path = (pathname === '/' ? ownPath : pathname) + (search === '' ? ownQuery : search);
  return { ...delivery, path, url: origin + path };
}
