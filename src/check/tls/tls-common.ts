import type { CheckSession } from '../session.ts';

const withoutTls = ({ endpoint }: CheckSession): string | undefined => {
  if (!endpoint.isSecure) return 'the URL is plain HTTP';
  return endpoint.proxy === undefined ? undefined : 'the receiver is reached through a proxy';
};

/** Of every probe of the connection: nothing is delivered. */
export const tlsProbe = {
  rule: '4.2 rule 1',
  level: 'should',
  isHarmless: true,
  inapplicable: withoutTls,
} as const;
