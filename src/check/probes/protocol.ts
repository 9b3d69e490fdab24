import { checkServerIdentity } from 'node:tls';
import { exchangeBytes, isCutOff } from '../exchange.ts';
import {
  acknowledges,
  describeAnswer,
  expectRefused,
  type Finding,
  type Probe,
  probeGroup,
  refuses,
  worstOf,
} from '../probe.ts';
import { type CheckSession, withContentType } from '../session.ts';
import { type Handshake, issuerOf, shakeHands } from '../tls-handshake.ts';

const protocol = probeGroup('protocol', { rule: '4.2 rule 1', level: 'should' }, [
  {
    name: 'method',
    expected: '4xx to GET and PUT',
    hint: 'take POST alone, and answer 405 to every other method',
    isHarmless: true,
    isIndependent: true,
    async run(session) {
      const request = session.deliveryOf(session.newLead());
      const empty = Buffer.alloc(0);
      return worstOf([
        expectRefused(await session.send({ ...request, method: 'PUT' })),
        expectRefused(await session.send({ ...request, method: 'GET', body: empty, leadId: undefined })),
      ]);
    },
  },
  {
    name: 'content-type',
    expected: '4xx to a lead that is sent as text/plain',
    hint: 'answer 415 to anything but application/json: a web page can send text/plain to any address',
    isHarmless: true,
    run: refuses((session) => withContentType(session.deliveryOf(session.newLead()), 'text/plain')),
  },
  {
    name: 'chunked',
    expected: '2xx to a chunked body',
    hint: 'read a body without Content-Length as well (RFC 9112, section 7.1)',
    run: acknowledges((session) => ({ ...session.deliveryOf(session.newLead()), isChunked: true })),
  },
  {
    name: 'malformed',
    expected: '4xx, or the end of the connection, to what is not HTTP',
    hint: 'leave the parsing of requests to the HTTP server, and let it refuse what it cannot read',
    isHarmless: true,
    isIndependent: true,
    isHeavy: true,
    requires: ['direct'],
    async run(session) {
      const { url } = session.endpoint;
      const start = `POST ${url.pathname} HTTP/1.1\r\nHost: ${url.host}\r\n`;
      return worstOf([
        await refusesBytes(session, `${start}a line without a colon\r\n\r\n`),
        await refusesBytes(
          session,
          `${start}Content-Type: application/json\r\nContent-Length: many\r\n\r\n{}`,
        ),
        await refusesBytes(session, '\x16\x03 leads-check\r\n\r\n'),
      ]);
    },
  },
]);

/** The bytes carry neither a credential nor a lead. */
async function refusesBytes(session: CheckSession, bytes: string): Promise<Finding> {
  const answer = await exchangeBytes(session.endpoint, bytes, session.wire);
  const isRefused = answer.answered ? answer.status >= 300 && answer.status < 500 : isCutOff(answer);
  return { result: isRefused ? 'pass' : 'fail', seen: describeAnswer(answer) };
}

const dayMs = 86_400_000;

/** Automatic renewal usually happens a month before a certificate expires. */
const warnDays = 14;

const nameMismatch = 'ERR_TLS_CERT_ALTNAME_INVALID';

/** They look at the connection alone and deliver nothing. */
const tls = probeGroup(
  'tls',
  {
    rule: '4.2 rule 1',
    level: 'should',
    isHarmless: true,
    isIndependent: true,
    requires: ['tls', 'direct'],
  },
  [
    {
      name: 'version',
      expected: 'TLS 1.2 or 1.3',
      hint: 'offer TLS 1.3, and 1.2 for older senders',
      run: judgesHandshake(({ protocol: version }) => {
        const isCurrent = version === 'TLSv1.3' || version === 'TLSv1.2';
        return { result: isCurrent ? 'pass' : 'fail', seen: `it speaks ${version ?? 'nothing known'}` };
      }),
    },
    {
      name: 'old-versions',
      expected: 'TLS 1.0 and 1.1 are refused',
      hint: 'turn TLS 1.0 and 1.1 off (RFC 8996)',
      async run(session) {
        for (const version of ['TLSv1', 'TLSv1.1'] as const) {
          // OpenSSL's default security level disables these versions on our side.
          const offer = { minVersion: version, maxVersion: version, ciphers: 'DEFAULT@SECLEVEL=0' };
          const { ok } = await shakeHands(session.endpoint, offer, session.wire);
          if (ok) return { result: 'fail', seen: `it speaks ${version}` };
        }
        return { result: 'pass', seen: 'it speaks neither' };
      },
    },
    {
      name: 'chain',
      expected: 'a certificate that leads to a trusted authority',
      hint: 'serve the whole chain with every certificate in between, issued by an authority that the service trusts',
      run: judgesHandshake(({ untrusted: code, certificate }, session) =>
        code === undefined || code === nameMismatch
          ? { result: 'pass', seen: `issued by ${issuerOf(certificate)}` }
          : untrusted(`it is not trusted (${code})`, session),
      ),
    },
    {
      name: 'name',
      expected: 'a certificate for the name in the URL',
      hint: 'issue the certificate for the host of the URL, as a subject alternative name',
      run: judgesHandshake(({ certificate }, session) => {
        const { host } = session.endpoint;
        const names = certificate.subjectaltname ?? 'no name';
        return checkServerIdentity(host, certificate) === undefined
          ? { result: 'pass', seen: `it is for ${host}` }
          : untrusted(`it is for ${names.slice(0, 200)}`, session);
      }),
    },
    {
      name: 'days',
      expected: `a certificate that is valid for ${warnDays} days or more`,
      hint: 'renew the certificate, and set up its automatic renewal',
      run: judgesHandshake(({ certificate }, session) => {
        const days = Math.floor((Date.parse(certificate.valid_to) - session.clock.now()) / dayMs);
        if (Number.isNaN(days)) return { result: 'warn', seen: 'its end cannot be read' };
        if (days < 0) return untrusted(`it ended ${-days} days ago`, session);
        return { result: days < warnDays ? 'warn' : 'pass', seen: `${days} days are left` };
      }),
    },
    {
      name: 'plain-http',
      expected: 'plain HTTP is refused on the port of TLS',
      hint: 'serve this port over TLS alone: others on the network can read a lead that is sent unencrypted',
      async run({ endpoint, wire }) {
        // Without a credential or a lead, since others on the network can read it.
        const request = `POST ${endpoint.url.pathname} HTTP/1.1\r\nHost: ${endpoint.url.host}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`;
        const answer = await exchangeBytes({ ...endpoint, isSecure: false }, request, wire);
        const judged = (result: Finding['result']): Finding => ({ result, seen: describeAnswer(answer) });
        if (!answer.answered) return judged(isCutOff(answer) ? 'pass' : 'warn');
        const { status } = answer;
        const isRefused = [400, 403, 426, 497].includes(status) || (status >= 300 && status < 400);
        return judged(isRefused ? 'pass' : 'fail');
      },
    },
  ],
);

/** Judges a handshake that accepts any certificate. */
function judgesHandshake(
  judge: (hands: Extract<Handshake, { ok: true }>, session: CheckSession) => Finding,
): Probe['run'] {
  return async (session) => {
    const hands = await shakeHands(session.endpoint, {}, session.wire);
    if (!hands.ok) return { result: 'fail', seen: `the handshake failed (${hands.code})` };
    return judge(hands, session);
  };
}

/** With `isInsecure` the operator knows that it is not trusted; the service still would not deliver. */
const untrusted = (detail: string, { endpoint }: CheckSession): Finding => ({
  result: endpoint.isInsecure ? 'warn' : 'fail',
  seen: detail,
});

export const protocolProbes: readonly Probe[] = [...protocol, ...tls];
