import { testIdPrefixes } from '../../lead/raw-lead.ts';
import { exchange, isCutOff } from '../exchange.ts';
import {
  acknowledges,
  describeAnswer,
  expectAccepted,
  expectRefused,
  refuses,
  survives,
} from '../judge-answers.ts';
import { probeGroup } from '../probe.ts';
import type { CheckRequest, CheckSession } from '../session.ts';

/** Far beyond the stack of recursive parsers; small enough for the usual limits of size. */
const depth = 20_000;

const brackets = (bracket: string): string => `"$(head -c ${depth} /dev/zero | tr '\\0' '${bracket}')"`;

const hugeBytes = 8 << 20;

const slowMs = 3000;
const stalledBodies = 4;

/** Longer than any receiver waits for the rest of a body; in milliseconds. */
const stalledMs = 1e9;

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
        { ...integer, form: 'to an integer beyond 2^53' },
        { ...escapes, form: 'to escapes' },
        { ...lines, form: 'to line breaks and indentation' },
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
        session.deliveryOfBody(cutOff, 'to JSON that is cut off'),
        session.deliveryOfBody('', 'to an empty body'),
        session.deliveryOfBody('null', 'to null'),
        session.deliveryOfBody('["leads-check"]', 'to an array'),
        session.deliveryOfBody(withoutId, 'to a lead without an id'),
      ];
    }),
  },
  {
    name: 'invalid-utf8',
    level: 'info',
    expected: '4xx to bytes that are not UTF-8',
    hint: 'decode strictly (in JavaScript: new TextDecoder("utf-8", {fatal: true})), or names are stored damaged',
    run: refuses((session) =>
      leadWith(session, {}, (json) => Buffer.from(json.replace('Leads Check', 'Leads \u00ff'), 'latin1')),
    ),
  },
  {
    name: 'deep',
    rule: '4.2 rule 2',
    level: 'must',
    phase: 'alone',
    expected: `alive after JSON that nests ${depth} deep, and 4xx to it`,
    hint: 'bound the depth of JSON, or catch the error of its parser: one request must not stop the receiver',
    run: survives(async (session) => {
      const sent = await session.send({
        ...session.deliveryOfBody(`{"id":${'['.repeat(depth)}${']'.repeat(depth)}}`),
        bodyCommand: `printf '{"id":%s%s}' ${brackets('[')} ${brackets(']')}`,
      });
      const finding = expectRefused(sent);
      return finding.result === 'fail' ? { ...finding, result: 'warn' } : finding;
    }),
  },
  {
    name: 'huge',
    rule: '4.2 rule 2',
    phase: 'alone',
    expected: '4xx to a lead of 8 MiB',
    hint: 'bound the size of a body, and answer 413 as soon as it is exceeded: a lead has a few hundred bytes',
    run: survives(async (session) => {
      const sent = await session.send(hugeDelivery(session));
      const { answer } = sent;
      // To reset the connection while the body comes is a refusal too, before the answer or within it.
      if (isCutOff(answer)) return { result: 'pass', seen: describeAnswer(answer), exchange: sent };
      return expectRefused({ ...sent, answer: { ...answer, isWhole: true } });
    }),
  },
  {
    name: 'slow',
    rule: '4.2 rule 2',
    expected: '2xx to a body that comes in pieces over some seconds',
    hint: 'read the body to its end before it is parsed: it may come in any number of pieces',
    run: acknowledges((session) => ({
      ...session.delivery(),
      sentWithinMs: Math.min(slowMs, session.wire.timeoutMs / 3),
    })),
  },
  {
    name: 'stalled',
    rule: '4.2 rule 2',
    phase: 'alone',
    expected: `2xx to a delivery while ${stalledBodies} others send a part of a body`,
    hint: 'serve several connections at once, and bound the time for one request',
    run: survives(async (session) => {
      const release = new AbortController();
      const signal = AbortSignal.any([release.signal, session.wire.signal]);
      const stalled = Array.from({ length: stalledBodies }, () => {
        const request = { ...session.delivery(), sentWithinMs: stalledMs };
        return exchange(session.endpoint, request, { ...session.wire, timeoutMs: stalledMs, signal });
      });
      try {
        await session.clock.sleep(1000, session.wire.signal);
        return expectAccepted(await session.send(session.delivery()));
      } finally {
        release.abort();
        await Promise.all(stalled);
      }
    }),
  },
]);

/** A genuine delivery of a lead with other members; `rewrite` writes its JSON in another way. */
function leadWith(
  session: CheckSession,
  more: Readonly<Record<string, unknown>>,
  rewrite = (json: string): string | Buffer => json,
): CheckRequest {
  const lead = session.newLead(more);
  return session.delivery({ lead, body: rewrite(JSON.stringify(lead.value)) });
}

/** It has an id: without one, a receiver that takes any size would refuse it as well. */
function hugeDelivery(session: CheckSession): CheckRequest {
  const lead = session.newLead();
  const start = JSON.stringify({ ...lead.value, padding: '' }).slice(0, -'"}'.length);
  const body = `${start}${'x'.repeat(hugeBytes)}"}`;
  const bodyCommand = `printf '%s%s"}' '${start}' "$(head -c ${hugeBytes} /dev/zero | tr '\\0' x)"`;
  return { ...session.delivery({ lead, body }), bodyCommand };
}
