import { checkServerIdentity } from 'node:tls';
import { type Handshake, issuerOf, shakeHands } from '../endpoint.ts';
import { type Answer, exchangeBytes, isCutOff } from '../exchange.ts';
import { withContentType } from '../credential.ts';
import { acknowledges, describeAnswer, refuses, survives } from '../judge-answers.ts';
import { type Finding, probeGroup, worstOf } from '../probe.ts';
import type { CheckSession } from '../session.ts';

export const protocolProbes = probeGroup('protocol', { rule: '4.2 rule 1', level: 'should' }, [
  {
    name: 'method',
    expected: '4xx to GET and PUT',
    hint: 'take POST alone, and answer 405 to every other method',
    isHarmless: true,
    isIndependent: true,
    run: refuses((session) => {
      const request = session.delivery();
      const empty = { body: Buffer.alloc(0), leadId: undefined };
      return [
        { ...request, form: 'to PUT', method: 'PUT' },
        { ...request, form: 'to GET', method: 'GET', ...empty },
      ];
    }),
  },
  {
    name: 'content-type',
    expected: '4xx to a lead that is sent as text/plain',
    hint: 'answer 415 to anything but application/json: a web page can send text/plain to any address',
    isHarmless: true,
    run: refuses((session) => withContentType(session.delivery(), 'text/plain')),
  },
  {
    name: 'variants',
    expected: '2xx to a chunked body, and to application/json; charset=utf-8',
    hint: 'read a body without Content-Length as well, and compare the media type without its parameters',
    run: acknowledges((session) => [
      { ...session.delivery({ form: 'to a chunked body' }), isChunked: true },
      withContentType(session.delivery({ form: 'to charset=utf-8' }), 'application/json; charset=utf-8'),
    ]),
  },
  {
    name: 'malformed',
    expected: '4xx, or the end of the connection, to what is not HTTP',
    hint: 'leave the parsing of requests to the HTTP server, and let it refuse what it cannot read',
    isHarmless: true,
    isIndependent: true,
    phase: 'alone',
    requires: ['direct'],
    run: survives(async ({ endpoint, wire }) => {
      // The bytes carry neither a credential nor a lead.
      const start = `POST ${endpoint.url.pathname} HTTP/1.1\r\nHost: ${endpoint.url.host}\r\n`;
      const malformed = [
        `${start}a line without a colon\r\n\r\n`,
        `${start}Content-Type: application/json\r\nContent-Length: many\r\n\r\n{}`,
        '\x16\x03 leads-check\r\n\r\n',
      ];
      const findings = malformed.map(async (bytes): Promise<Finding> => {
        const answer = await exchangeBytes(endpoint, bytes, wire);
        const { status = 0 } = answer;
        const isRefused = isCutOff(answer) || (status >= 300 && status < 500);
        return { result: isRefused ? 'pass' : 'fail', seen: describeAnswer(answer) };
      });
      return worstOf(await Promise.all(findings));
    }),
  },
]);

const dayMs = 86_400_000;

/** Automatic renewal usually happens a month before a certificate expires. */
const warnDays = 14;

const nameMismatch = 'ERR_TLS_CERT_ALTNAME_INVALID';

export const tlsProbes = probeGroup(
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
      expected: 'TLS 1.2 or 1.3, and nothing older',
      hint: 'offer TLS 1.3, and 1.2 for older senders; turn TLS 1.0 and 1.1 off (RFC 8996)',
      async run({ endpoint, wire }) {
        for (const version of ['TLSv1', 'TLSv1.1'] as const) {
          const { ok } = await shakeHands(endpoint, wire, version);
          if (ok) return { result: 'fail', seen: `it speaks ${version}` };
        }
        const hands = await shakeHands(endpoint, wire);
        return hands.ok ? { result: 'pass', seen: `it speaks ${hands.protocol}` } : failed(hands);
      },
    },
    {
      name: 'certificate',
      expected: `a trusted certificate for the URL's name, for ${warnDays} days or more`,
      hint: 'serve the whole chain of a certificate for the host of the URL, by an authority that the service trusts, and renew it automatically',
      async run(session) {
        const hands = await shakeHands(session.endpoint, session.wire);
        return hands.ok ? judgeCertificate(hands, session) : failed(hands);
      },
    },
    {
      name: 'plain-http',
      expected: 'plain HTTP is refused on the port of TLS',
      hint: 'serve this port over TLS alone: others on the network can read a lead that is sent unencrypted',
      async run({ endpoint, wire }) {
        // Without a credential or a lead, since others on the network can read it.
        const request = `POST ${endpoint.url.pathname} HTTP/1.1\r\nHost: ${endpoint.url.host}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`;
        const answer = await exchangeBytes({ ...endpoint, isSecure: false }, request, wire);
        return { result: resultOfPlainHttp(answer), seen: describeAnswer(answer) };
      },
    },
  ],
);

function resultOfPlainHttp(answer: Answer): Finding['result'] {
  const { status } = answer;
  if (status === undefined) return isCutOff(answer) ? 'pass' : 'warn';
  return [400, 403, 426, 497].includes(status) || (status >= 300 && status < 400) ? 'pass' : 'fail';
}

const failed = ({ code }: Extract<Handshake, { ok: false }>): Finding => ({
  result: 'fail',
  seen: `the handshake failed (${code})`,
});

/** An insecure endpoint's operator knows that it is not trusted; the service still would not deliver. */
function judgeCertificate(
  { untrusted, certificate }: Extract<Handshake, { ok: true }>,
  { endpoint: { host, isInsecure }, clock }: CheckSession,
): Finding {
  const days = Math.floor((Date.parse(certificate.valid_to) - clock.now()) / dayMs);
  const faults = [
    ...(untrusted === undefined || untrusted === nameMismatch ? [] : [`is not trusted (${untrusted})`]),
    ...(checkServerIdentity(host, certificate) === undefined
      ? []
      : [`is for ${(certificate.subjectaltname ?? 'no name').slice(0, 200)}`]),
    ...(days < 0 ? [`ended ${-days} days ago`] : []),
  ];
  if (faults.length > 0) return { result: isInsecure ? 'warn' : 'fail', seen: `it ${faults.join(' and ')}` };
  // A date that cannot be read is not far enough away either.
  const result = days >= warnDays ? 'pass' : 'warn';
  return { result, seen: `issued by ${issuerOf(certificate)}, ${days} days are left` };
}
