import { checkServerIdentity, type DetailedPeerCertificate } from 'node:tls';
import { isCutOff, rawExchange } from '../exchange.ts';
import { describeAnswer, type Finding, type Probe } from '../probe.ts';
import type { CheckSession } from '../session.ts';
import { type Handshake, shakeHands } from '../tls-handshake.ts';

const withoutTls = ({ endpoint }: CheckSession): string | undefined => {
  if (!endpoint.isSecure) return 'the URL is plain HTTP';
  return endpoint.proxy === undefined ? undefined : 'the receiver is reached through a proxy';
};

/** Of every probe of the connection: nothing is delivered. */
const tlsProbe = {
  rule: '4.2 rule 1',
  level: 'should',
  isHarmless: true,
  inapplicable: withoutTls,
} as const;

export const currentTls: Probe = {
  ...tlsProbe,
  name: 'tls.version',
  expected: 'TLS 1.2 or 1.3',
  hint: 'offer TLS 1.3, and 1.2 for older senders',
  async run(session) {
    const hands = await shakeHands(session.endpoint, {}, session.wire);
    if (!hands.ok) return { result: 'fail', seen: `the handshake failed (${hands.code})` };
    const isCurrent = hands.protocol === 'TLSv1.3' || hands.protocol === 'TLSv1.2';
    return { result: isCurrent ? 'pass' : 'fail', seen: `it speaks ${hands.protocol ?? 'nothing known'}` };
  },
};

export const oldTls: Probe = {
  ...tlsProbe,
  name: 'tls.old-versions',
  expected: 'TLS 1.0 and 1.1 are refused',
  hint: 'turn TLS 1.0 and 1.1 off (RFC 8996)',
  async run(session): Promise<Finding> {
    for (const version of ['TLSv1', 'TLSv1.1'] as const) {
      if (await speaks(session, version)) return { result: 'fail', seen: `it speaks ${version}` };
    }
    return { result: 'pass', seen: 'it speaks neither' };
  },
};

/** OpenSSL's default security level disables these versions on our side. */
async function speaks(session: CheckSession, version: 'TLSv1' | 'TLSv1.1'): Promise<boolean> {
  const offer = { minVersion: version, maxVersion: version, ciphers: 'DEFAULT@SECLEVEL=0' };
  return (await shakeHands(session.endpoint, offer, session.wire)).ok;
}

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

export const plainHttp: Probe = {
  ...tlsProbe,
  name: 'tls.plain-http',
  expected: 'plain HTTP is refused on the port of TLS',
  hint: 'serve this port over TLS alone: others on the network can read a lead that is sent unencrypted',
  async run({ endpoint, wire }) {
    // Without a credential or a lead, since others on the network can read it.
    const request = `POST ${endpoint.url.pathname} HTTP/1.1\r\nHost: ${endpoint.url.host}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`;
    const answer = await rawExchange({ ...endpoint, isSecure: false }, request, wire);
    const seen = describeAnswer(answer);
    if (!answer.answered) return { result: isCutOff(answer) ? 'pass' : 'warn', seen };
    const isRefused =
      answer.status === 400 || answer.status === 403 || answer.status === 426 || answer.status === 497;
    const isRedirect = answer.status >= 300 && answer.status < 400;
    return { result: isRefused || isRedirect ? 'pass' : 'fail', seen };
  },
};
