import { testIdPrefixes } from '../../lead/raw-lead.ts';
import { withContentType } from './credential.ts';
import { acknowledges, probeGroup, refuses } from '../probe.ts';
import type { CheckRequest, CheckSession } from '../session.ts';

export const bodyProbes = probeGroup('body', { rule: '4.2 rule 1', level: 'should' }, [
  {
    name: 'unknown-fields',
    rule: '2',
    expected: '2xx to a lead with fields that are not in the specification',
    hint: 'ignore or keep what is unknown: the service may add fields at any time',
    run: acknowledges((session) =>
      leadWith(session, { score: 87.5, tags: ['a', 'b'], consent: { at: null }, constructor: 'x' }),
    ),
  },
  {
    name: 'few-fields',
    rule: '2',
    level: 'info',
    expected: '2xx to a lead without e-mail, phone and source',
    hint: 'take a lead with what it has: the specification says of no field but the id that it is always there',
    run: acknowledges((session) => leadWith(session, { contact: { name: 'Leads Check' }, metadata: {} })),
  },
  {
    name: 'unicode',
    rule: '4.2 rule 2',
    level: 'must',
    expected: '2xx to names in other scripts, and emoji',
    hint: 'read the body as UTF-8, and store it so that characters of four bytes fit (utf8mb4 in MySQL)',
    run: acknowledges((session) =>
      leadWith(session, { contact: { name: 'Zoë 佐藤美咲 Олена عمر 👩‍💻', email: 'leads-check@example.com' } }),
    ),
  },
  {
    name: 'spelling',
    rule: '2',
    expected: '2xx to integers beyond 2^53, escapes, and white space',
    hint: 'verify the raw bytes of the body: JSON that was parsed and written again is another text',
    run: acknowledges((session) => {
      const escaped = String.raw`Le\u0061ds \"Check\" \/ \ud83d\udc69 \n\t\\`;
      const integer = leadWith(session, { score: 'N' }, (json) => json.replace('"N"', '9007199254740993'));
      const escapes = leadWith(session, {}, (json) => json.replace('Leads Check', () => escaped));
      const lines = leadWith(session, {}, (json) => `\r\n${json.replaceAll(/(?<=[{,])/g, '\n  ')}\n`);
      return [
        { ...integer, phrase: 'to an integer beyond 2^53' },
        { ...escapes, phrase: 'to escapes' },
        { ...lines, phrase: 'to line breaks and indentation' },
      ];
    }),
  },
  {
    name: 'no-lead',
    isHarmless: true,
    expected: '4xx to what is no JSON, and to JSON that is no lead',
    hint: 'check that the body is an object with an id, and answer 400 when it is not: after a 5xx the service delivers it again and again',
    run: refuses((session) => {
      const withoutId = JSON.stringify({ ...session.newLead().value, id: undefined });
      const cutOff = `{"id":"${testIdPrefixes.check}malformed","contact":{`;
      return [
        session.deliveryWithoutLead(cutOff, 'to JSON that is cut off'),
        session.deliveryWithoutLead('', 'to an empty body'),
        session.deliveryWithoutLead('null', 'to null'),
        session.deliveryWithoutLead('["leads-check"]', 'to an array'),
        session.deliveryWithoutLead(withoutId, 'to a lead without an id'),
      ];
    }),
  },
]);

export const protocolProbes = probeGroup('protocol', { rule: '4.2 rule 1', level: 'should' }, [
  {
    name: 'method',
    expected: '4xx to GET and PUT',
    hint: 'take POST alone, and answer 405 to every other method',
    isHarmless: true,
    run: refuses((session) => {
      const request = session.delivery();
      const empty = { body: Buffer.alloc(0), leadId: undefined };
      return [
        { ...request, phrase: 'to PUT', method: 'PUT' },
        { ...request, phrase: 'to GET', method: 'GET', ...empty },
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
      { ...session.delivery({ phrase: 'to a chunked body' }), isChunked: true },
      withContentType(session.delivery({ phrase: 'to charset=utf-8' }), 'application/json; charset=utf-8'),
    ]),
  },
]);

/** A genuine delivery of a lead with other members; `rewrite` writes its JSON in another way. */
function leadWith(
  session: CheckSession,
  more: Readonly<Record<string, unknown>>,
  rewrite = (json: string): string => json,
): CheckRequest {
  const lead = session.newLead(more);
  return session.delivery({ lead, body: rewrite(JSON.stringify(lead.value)) });
}
