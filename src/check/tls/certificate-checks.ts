import { checkServerIdentity, type DetailedPeerCertificate } from 'node:tls';
import type { Finding, Probe } from '../check-probe.ts';
import type { CheckSession } from '../session.ts';
import { type Handshake, shakeHands } from '../wire/tls-handshake.ts';
import { tlsProbe } from './tls-common.ts';

const dayMs = 86_400_000;

/** Automatic renewal usually happens a month before a certificate expires. */
const warnDays = 14;

const nameMismatch = 'ERR_TLS_CERT_ALTNAME_INVALID';

/** A check of the certificate, after a handshake that accepts any certificate. */
function certificateProbe(
  name: string,
  texts: Pick<Probe, 'expected' | 'hint'>,
  judge: (hands: Extract<Handshake, { ok: true }>, session: CheckSession) => Finding,
): Probe {
  return {
    ...tlsProbe,
    ...texts,
    name: `tls.${name}`,
    async run(session) {
      const hands = await shakeHands(session.endpoint, {}, session.wire);
      if (!hands.ok) return { result: 'fail', seen: `the handshake failed (${hands.code})` };
      return judge(hands, session);
    },
  };
}

/** With `--insecure` the operator knows that it is not trusted; the service still would not deliver. */
const untrusted = (seen: string, { endpoint }: CheckSession): Finding => ({
  result: endpoint.isInsecure ? 'warn' : 'fail',
  seen,
});

export const certificateChain = certificateProbe(
  'chain',
  {
    expected: 'a certificate that leads to a trusted authority',
    hint: 'serve the whole chain with every certificate in between, issued by an authority that the service trusts',
  },
  ({ untrusted: code, certificate }, session) =>
    code === undefined || code === nameMismatch
      ? { result: 'pass', seen: `issued by ${issuerOf(certificate)}` }
      : untrusted(`it is not trusted (${code})`, session),
);

export const certificateName = certificateProbe(
  'name',
  {
    expected: 'a certificate for the name in the URL',
    hint: 'issue the certificate for the host of the URL, as a subject alternative name',
  },
  ({ certificate }, session) => {
    const { host } = session.endpoint;
    const names = certificate.subjectaltname ?? 'no name';
    return checkServerIdentity(host, certificate) === undefined
      ? { result: 'pass', seen: `it is for ${host}` }
      : untrusted(`it is for ${names.slice(0, 200)}`, session);
  },
);

export const certificateDays = certificateProbe(
  'days',
  {
    expected: `a certificate that is valid for ${warnDays} days or more`,
    hint: 'renew the certificate, and set up its automatic renewal',
  },
  ({ certificate }, session) => {
    const days = Math.floor((Date.parse(certificate.valid_to) - session.clock.now()) / dayMs);
    if (Number.isNaN(days)) return { result: 'warn', seen: 'its end cannot be read' };
    if (days < 0) return untrusted(`it ended ${-days} days ago`, session);
    return { result: days < warnDays ? 'warn' : 'pass', seen: `${days} days are left` };
  },
);

const issuerOf = ({ issuer }: DetailedPeerCertificate): string =>
  [issuer.O, issuer.CN].flat().find((name) => name !== undefined && name !== '') ?? 'an unnamed authority';
