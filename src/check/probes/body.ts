import { testIdPrefixes } from '../../lead/test-id.ts';
import { isCutOff } from '../raw-request.ts';
import { openSocket } from '../endpoint.ts';
import {
  acknowledges,
  describeAnswer,
  expectAccepted,
  expectRefused,
  isAcknowledged,
  type Probe,
  probeGroup,
  refuses,
} from '../probe.ts';
import { type CheckRequest, type CheckSession, type Exchange, withContentType } from '../session.ts';

const rawBytes = 'verify the raw bytes of the body: JSON that was parsed and written again is another text';

/** Genuine leads that are well-formed and unusual. */
const oddLeads = probeGroup('body', { rule: '2', level: 'should', needsAcknowledgement: true }, [
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
const badBodies = probeGroup(
  'body',
  { rule: '4.2 rule 1', level: 'should', isHarmless: true, needsAcknowledgement: true },
  [
    {
      name: 'malformed',
      expected: '4xx to JSON that is cut off',
      hint: 'answer 400 when the body cannot be parsed: after a 5xx the service delivers it again and again',
      run: refuses(bodyOf(`{"id":"${testIdPrefixes.check}malformed","contact":{`)),
    },
    {
      name: 'empty',
      expected: '4xx to an empty body',
      hint: 'answer 400 when there is no body',
      run: refuses(bodyOf('')),
    },
    { name: 'null', expected: '4xx to null', hint: noLead, run: refuses(bodyOf('null')) },
    { name: 'array', expected: '4xx to an array', hint: noLead, run: refuses(bodyOf('["leads-check"]')) },
    {
      name: 'no-id',
      expected: '4xx to a lead without an id',
      hint: 'a lead without an id cannot be deduplicated: answer 400',
      run: refuses((session) =>
        bodyOf(JSON.stringify({ ...session.newLead().value, id: undefined }))(session),
      ),
    },
  ],
);

function bodyOf(text: string) {
  return (session: CheckSession): CheckRequest => session.deliveryOfBody(Buffer.from(text));
}

/** Beyond the stack of recursive parsers; small enough for the usual limits of size. */
const depth = 20_000;

const brackets = (bracket: string): string => `"$(head -c ${depth} /dev/zero | tr '\\0' '${bracket}')"`;

const deepBody = (session: CheckSession): CheckRequest => ({
  ...session.deliveryOfBody(Buffer.from(`{"id":${'['.repeat(depth)}${']'.repeat(depth)}}`)),
  shellBody: `printf '{"id":%s%s}' ${brackets('[')} ${brackets(']')}`,
});

/** One request serves both probes. */
const sentDeep = new WeakMap<CheckSession['exchanges'], Exchange>();

/** Far beyond a lead, and quickly sent. */
const megabytes = 8;

const longestMs = 3000;
const stalledBodies = 4;

const heavyBodies = probeGroup(
  'body',
  { rule: '4.2 rule 2', level: 'should', needsAcknowledgement: true, stage: 'alone' },
  [
    {
      name: 'invalid-utf8',
      rule: '4.2 rule 1',
      level: 'info',
      stage: 'together',
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
      expected: `alive after JSON that nests ${depth} deep`,
      hint: 'bound the depth of JSON, or catch the error of its parser: one request must not stop the receiver',
      // That the receiver lives afterwards is found out behind every probe that is run alone.
      async run(session) {
        const exchange = await session.send(deepBody(session));
        sentDeep.set(session.exchanges, exchange);
        return { result: 'pass', seen: 'it is alive', exchange };
      },
    },
    {
      name: 'deep-answer',
      expected: `4xx to JSON that nests ${depth} deep`,
      hint: 'bound the depth of JSON, and answer 400',
      run: async (session) =>
        expectRefused(sentDeep.get(session.exchanges) ?? (await session.send(deepBody(session)))),
    },
    {
      name: 'huge',
      expected: `4xx to a lead of ${megabytes} MiB`,
      hint: 'bound the size of a body, and answer 413 as soon as it is exceeded: a lead has a few hundred bytes',
      async run(session) {
        // With an id: without one, a receiver that takes any size would refuse it as well.
        const lead = session.newLead();
        const start = JSON.stringify({ ...lead.value, padding: '' }).slice(0, -'"}'.length);
        const body = Buffer.from(`${start}${'x'.repeat(megabytes << 20)}"}`);
        const shellBody = `printf '%s%s"}' '${start}' "$(head -c ${megabytes << 20} /dev/zero | tr '\\0' x)"`;
        const exchange = await session.send({ ...session.deliveryOf(lead, { body }), shellBody });
        // To end the connection without reading on is a way of refusing as well.
        return isCutOff(exchange.answer)
          ? { result: 'pass', seen: describeAnswer(exchange.answer), exchange }
          : expectRefused(exchange);
      },
    },
    {
      name: 'slow',
      stage: 'together',
      expected: '2xx to a body that comes in pieces over some seconds',
      hint: 'read the body to its end before it is parsed: it may come in any number of pieces',
      isSlow: true,
      run: acknowledges((session) => ({
        ...session.deliveryOf(session.newLead()),
        sentWithinMs: Math.min(longestMs, session.wire.timeoutMs / 3),
      })),
    },
    {
      name: 'stalled',
      expected: `2xx to a delivery while ${stalledBodies} others send half a body`,
      hint: 'serve several connections at once, and bound the time for one request',
      inapplicable: ({ endpoint }) =>
        endpoint.proxy === undefined ? undefined : 'the receiver is reached through a proxy',
      async run(session) {
        const release = new AbortController();
        try {
          for (let i = 0; i < stalledBodies; i += 1) await sendHalf(session, release.signal);
          const exchange = await session.send(session.deliveryOf(session.newLead()));
          if (isAcknowledged(exchange)) return expectAccepted(exchange);
          return { result: 'fail', seen: describeAnswer(exchange.answer), exchange };
        } finally {
          release.abort();
        }
      },
    },
  ],
);

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
