import { testIdPrefixes } from '../../lead/test-id.ts';
import { openSocket } from '../endpoint.ts';
import { isCutOff } from '../exchange.ts';
import {
  acknowledges,
  describeAnswer,
  expectRefused,
  isAcknowledged,
  type Probe,
  probeGroup,
  refuses,
} from '../probe.ts';
import { type CheckRequest, type CheckSession, type Exchange, withContentType } from '../session.ts';

const rawBytes = 'verify the raw bytes of the body: JSON that was parsed and written again is another text';

/** Genuine leads that are well-formed and unusual. */
const oddLeads = probeGroup('body', { rule: '2', level: 'should' }, [
  {
    name: 'unknown-fields',
    expected: '2xx to a lead with fields that are not in the specification',
    hint: 'ignore or keep what is unknown: the service may add fields at any time',
    run: acknowledges(
      leadWith({ score: 87.5, tags: ['a', 'b'], consent: { given: true, at: null }, constructor: 'x' }),
    ),
  },
  {
    name: 'few-fields',
    level: 'info',
    expected: '2xx to a lead without e-mail, phone and source',
    hint: 'take a lead with what it has: the specification says of no field but the id that it is always there',
    run: acknowledges(leadWith({ contact: { name: 'Leads Check' }, metadata: {} })),
  },
  {
    name: 'large-integers',
    expected: '2xx to an integer beyond 2^53',
    hint: rawBytes,
    run: acknowledges(
      leadWith({ metadata: { source: 'leads-check', externalId: 'N' } }, (json) =>
        json.replace('"N"', '9007199254740993'),
      ),
    ),
  },
  {
    name: 'unicode',
    rule: '4.2 rule 2',
    level: 'must',
    expected: '2xx to names in other scripts, and emoji',
    hint: 'read the body as UTF-8, and store it so that characters of four bytes fit (utf8mb4 in MySQL)',
    run: acknowledges(
      leadWith({ contact: { name: 'Zoë 佐藤美咲 Олена عمر 👩‍💻', email: 'leads-check@example.com' } }),
    ),
  },
  {
    name: 'escapes',
    expected: '2xx to JSON with escapes',
    hint: rawBytes,
    run: acknowledges(
      leadWith({}, (json) =>
        json.replace('Leads Check', () => String.raw`Le\u0061ds \"Check\" \/ \ud83d\udc69 \n\t\\`),
      ),
    ),
  },
  {
    name: 'white-space',
    expected: '2xx to JSON with line breaks and indentation',
    hint: rawBytes,
    run: acknowledges(
      leadWith({}, (json) => `\r\n${JSON.stringify(JSON.parse(json) as unknown, undefined, 2)}\n`),
    ),
  },
  {
    name: 'charset',
    rule: '4.2 rule 1',
    expected: '2xx to application/json; charset=utf-8',
    hint: 'compare the media type alone, without its parameters',
    run: acknowledges((session) =>
      withContentType(session.deliveryOf(session.newLead()), 'application/json; charset=utf-8'),
    ),
  },
]);

/** A genuine delivery of a lead with more in it; `rewrite` writes its JSON in another way. */
function leadWith(more: Readonly<Record<string, unknown>>, rewrite = (json: string): string => json) {
  return (session: CheckSession): CheckRequest => {
    const lead = session.newLead(more);
    return session.deliveryOf(lead, { body: Buffer.from(rewrite(JSON.stringify(lead.value))) });
  };
}

const noLead = 'check that the body is an object with an id, and answer 400 when it is not';

/** Bodies that are no leads, with a genuine credential. */
const badBodies = probeGroup('body', { rule: '4.2 rule 1', level: 'should', isHarmless: true }, [
  {
    name: 'malformed',
    expected: '4xx to JSON that is cut off',
    hint: 'answer 400 when the body cannot be parsed: after a 5xx the service delivers it again and again',
    run: refusesBody(`{"id":"${testIdPrefixes.check}malformed","contact":{`),
  },
  {
    name: 'empty',
    expected: '4xx to an empty body',
    hint: 'answer 400 when there is no body',
    run: refusesBody(''),
  },
  { name: 'null', expected: '4xx to null', hint: noLead, run: refusesBody('null') },
  { name: 'array', expected: '4xx to an array', hint: noLead, run: refusesBody('["leads-check"]') },
  {
    name: 'no-id',
    expected: '4xx to a lead without an id',
    hint: 'a lead without an id cannot be deduplicated: answer 400',
    run: refuses((session) =>
      session.deliveryOfBody(JSON.stringify({ ...session.newLead().value, id: undefined })),
    ),
  },
]);

function refusesBody(text: string): Probe['run'] {
  return refuses((session) => session.deliveryOfBody(text));
}

/** Beyond the stack of recursive parsers; small enough for the usual limits of size. */
const depth = 20_000;

const brackets = (bracket: string): string => `"$(head -c ${depth} /dev/zero | tr '\\0' '${bracket}')"`;

const deepCommand = `printf '{"id":%s%s}' ${brackets('[')} ${brackets(']')}`;

const sendDeep = (session: CheckSession): Promise<Exchange> =>
  session.send({
    ...session.deliveryOfBody(`{"id":${'['.repeat(depth)}${']'.repeat(depth)}}`),
    bodyCommand: deepCommand,
  });

/** Far beyond a lead, and quickly sent. */
const hugeBytes = 8 << 20;

/** It has an id: without one, a receiver that takes any size would refuse it as well. */
function hugeBody(session: CheckSession): CheckRequest {
  const lead = session.newLead();
  const start = JSON.stringify({ ...lead.value, padding: '' }).slice(0, -'"}'.length);
  const body = Buffer.from(`${start}${'x'.repeat(hugeBytes)}"}`);
  const bodyCommand = `printf '%s%s"}' '${start}' "$(head -c ${hugeBytes} /dev/zero | tr '\\0' x)"`;
  return { ...session.deliveryOf(lead, { body }), bodyCommand };
}

const longestMs = 3000;
const stalledBodies = 4;

const heavyBodies = probeGroup('body', { rule: '4.2 rule 2', level: 'should' }, [
  {
    name: 'invalid-utf8',
    rule: '4.2 rule 1',
    level: 'info',
    expected: '4xx to bytes that are not UTF-8',
    hint: 'decode strictly (in JavaScript: new TextDecoder("utf-8", {fatal: true})), or names are stored damaged',
    run: refuses((session) => {
      const lead = session.newLead();
      const json = JSON.stringify(lead.value).replace('Leads Check', 'Leads \u00ff');
      return session.deliveryOf(lead, { body: Buffer.from(json, 'latin1') });
    }),
  },
  {
    name: 'deep',
    level: 'must',
    isHeavy: true,
    expected: `alive after JSON that nests ${depth} deep`,
    hint: 'bound the depth of JSON, or catch the error of its parser: one request must not stop the receiver',
    // The look at the receiver that follows each heavy probe shows whether it lives.
    run: async (session) => ({
      result: 'pass',
      seen: 'it is alive',
      exchange: await sendDeep(session),
    }),
  },
  {
    name: 'deep-answer',
    isHeavy: true,
    expected: `4xx to JSON that nests ${depth} deep`,
    hint: 'bound the depth of JSON, and answer 400',
    async run(session) {
      // A receiver that the first such request stopped and that came back is not stopped again.
      const sent = session.exchanges.find(({ request }) => request.bodyCommand === deepCommand);
      return expectRefused(sent ?? (await sendDeep(session)));
    },
  },
  {
    name: 'huge',
    isHeavy: true,
    expected: '4xx to a lead of 8 MiB',
    hint: 'bound the size of a body, and answer 413 as soon as it is exceeded: a lead has a few hundred bytes',
    async run(session) {
      const exchange = await session.send(hugeBody(session));
      const { answer } = exchange;
      // To reset the connection while the body comes is a refusal too, before the answer or within it.
      if (isCutOff(answer)) return { result: 'pass', seen: describeAnswer(answer), exchange };
      return expectRefused(
        answer.answered ? { ...exchange, answer: { ...answer, isWhole: true } } : exchange,
      );
    },
  },
  {
    name: 'slow',
    expected: '2xx to a body that comes in pieces over some seconds',
    hint: 'read the body to its end before it is parsed: it may come in any number of pieces',
    run: acknowledges((session) => ({
      ...session.deliveryOf(session.newLead()),
      sentWithinMs: Math.min(longestMs, session.wire.timeoutMs / 3),
    })),
  },
  {
    name: 'stalled',
    isHeavy: true,
    expected: `2xx to a delivery while ${stalledBodies} others send half a body`,
    hint: 'serve several connections at once, and bound the time for one request',
    requires: ['direct'],
    async run(session) {
      const release = new AbortController();
      try {
        for (let i = 0; i < stalledBodies; i += 1) await sendHalf(session, release.signal);
        const exchange = await session.send(session.deliveryOf(session.newLead()));
        const isTaken = isAcknowledged(exchange);
        return { result: isTaken ? 'pass' : 'fail', seen: describeAnswer(exchange.answer), exchange };
      } finally {
        release.abort();
      }
    },
  },
]);

/** A request that announces a body and sends a part of it; the connection stays open until `signal` is aborted. */
async function sendHalf(session: CheckSession, signal: AbortSignal): Promise<void> {
  const { endpoint } = session;
  const { headers, body } = session.deliveryOf(session.newLead());
  const lines = [
    `POST ${endpoint.url.pathname}${endpoint.url.search} HTTP/1.1`,
    `Host: ${endpoint.url.host}`,
    ...headers.map(([name, value]) => `${name}: ${value}`),
    `Content-Length: ${body.length}`,
  ];
  const socket = await openSocket(endpoint, AbortSignal.any([signal, session.wire.signal]));
  socket.resume();
  socket.write(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
  socket.write(body.subarray(0, Math.floor(body.length / 2)));
}

export const bodyProbes: readonly Probe[] = [...oddLeads, ...badBodies, ...heavyBodies];
