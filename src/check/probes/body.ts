import { openSocket } from '../endpoint.ts';
import { isCutOff } from '../exchange.ts';
import { describeAnswer, expectAccepted, expectRefused, type Finding, type Probe } from '../probe.ts';
import type { CheckSession, Exchange, TestLead } from '../session.ts';
import { isAcknowledged } from './delivery.ts';

const ofOddLead = { rule: '2', level: 'should', needsAcknowledgement: true } as const;

/** A genuine lead that is well-formed and unusual. */
function oddLead(
  name: string,
  lead: (session: CheckSession) => { readonly lead: TestLead; readonly body?: Buffer },
  texts: Pick<Probe, 'expected' | 'hint'> & Partial<Pick<Probe, 'level'>>,
): Probe {
  return {
    ...ofOddLead,
    ...texts,
    name: `body.${name}`,
    async run(session) {
      const { lead: made, ...body } = lead(session);
      return expectAccepted(await session.send(session.deliveryOf(made, body)));
    },
  };
}

/** The lead's JSON with one text in it replaced by other bytes. */
const rewritten = (lead: TestLead, from: string, to: string): { lead: TestLead; body: Buffer } => ({
  lead,
  body: Buffer.from(JSON.stringify(lead.value).replace(from, () => to)),
});

const rawBytes = 'verify the raw bytes of the body: JSON that was parsed and written again is another text';

export const unknownFields = oddLead(
  'unknown-fields',
  (session) => ({
    lead: session.newLead({
      score: 87.5,
      tags: ['a', 'b'],
      consent: { given: true, at: null },
      constructor: 'x',
    }),
  }),
  {
    expected: '2xx to a lead with fields that are not in the specification',
    hint: 'ignore or keep what is unknown: the service may add fields at any time',
  },
);

export const fewFields = oddLead(
  'few-fields',
  (session) => ({ lead: session.newLead({ contact: { name: 'Leads Check' }, metadata: {} }) }),
  {
    level: 'info',
    expected: '2xx to a lead without e-mail, phone and source',
    hint: 'take a lead with what it has: the specification says of no field but the id that it is always there',
  },
);

export const largeIntegers = oddLead(
  'large-integers',
  (session) =>
    rewritten(
      session.newLead({ metadata: { source: 'leads-check', externalId: 'N' } }),
      '"N"',
      '9007199254740993',
    ),
  { expected: '2xx to an integer beyond 2^53', hint: rawBytes },
);

export const unicodeText = oddLead(
  'unicode',
  (session) => ({
    lead: session.newLead({
      contact: { name: 'Zoë 佐藤美咲 Олена عمر 👩‍💻', email: 'leads-check@example.com' },
    }),
  }),
  {
    expected: '2xx to names in other scripts, and emoji',
    hint: 'read the body as UTF-8, and store it so that characters of four bytes fit (utf8mb4 in MySQL)',
  },
);

export const escapedText = oddLead(
  'escapes',
  (session) =>
    rewritten(session.newLead(), 'Leads Check', String.raw`Le\u0061ds \"Check\" \/ \ud83d\udc69 \n\t\\`),
  { expected: '2xx to JSON with escapes', hint: rawBytes },
);

export const spacedJson = oddLead(
  'white-space',
  (session) => {
    const lead = session.newLead();
    return { lead, body: Buffer.from(`\r\n${JSON.stringify(lead.value, undefined, 2)}\n`) };
  },
  { expected: '2xx to JSON with line breaks and indentation', hint: rawBytes },
);

export const charsetParameter: Probe = {
  ...ofOddLead,
  name: 'body.charset',
  rule: '4.2 rule 1',
  expected: '2xx to application/json; charset=utf-8',
  hint: 'compare the media type alone, without its parameters',
  async run(session): Promise<Finding> {
    const request = session.deliveryOf(session.newLead());
    const headers = request.headers.map(([name, value]) =>
      name === 'Content-Type'
        ? ([name, 'application/json; charset=utf-8'] as const)
        : ([name, value] as const),
    );
    return expectAccepted(await session.send({ ...request, headers }));
  },
};

/** A body that is no lead, delivered with a genuine credential. */
function badBody(
  name: string,
  body: (session: CheckSession) => string,
  texts: Pick<Probe, 'expected' | 'hint'>,
): Probe {
  return {
    ...texts,
    name: `body.${name}`,
    rule: '4.2 rule 1',
    level: 'should',
    isHarmless: true,
    needsAcknowledgement: true,
    run: async (session) =>
      expectRefused(await session.send(session.deliveryOfBody(Buffer.from(body(session))))),
  };
}

const noLead = 'check that the body is an object with an id, and answer 400 when it is not';

export const malformedBody = badBody('malformed', () => '{"id":"leads-check-malformed","contact":{', {
  expected: '4xx to JSON that is cut off',
  hint: 'answer 400 when the body cannot be parsed: after a 5xx the service delivers it again and again',
});

export const emptyBody = badBody('empty', () => '', {
  expected: '4xx to an empty body',
  hint: 'answer 400 when there is no body',
});

export const nullBody = badBody('null', () => 'null', { expected: '4xx to null', hint: noLead });

export const arrayBody = badBody('array', () => '["leads-check"]', {
  expected: '4xx to an array',
  hint: noLead,
});

export const withoutId = badBody(
  'no-id',
  (session) => JSON.stringify({ ...session.newLead().value, id: undefined }),
  {
    expected: '4xx to a lead without an id',
    hint: 'a lead without an id cannot be deduplicated: answer 400',
  },
);

export const invalidUtf8: Probe = {
  name: 'body.invalid-utf8',
  rule: '4.2 rule 1',
  level: 'info',
  expected: '4xx to bytes that are not UTF-8',
  hint: 'decode strictly (in JavaScript: new TextDecoder("utf-8", {fatal: true})), or names are stored damaged',
  needsAcknowledgement: true,
  async run(session) {
    const lead = session.newLead();
    const body = Buffer.from(JSON.stringify(lead.value).replace('Leads Check', 'Leads \u00ff'), 'latin1');
    return expectRefused(await session.send(session.deliveryOf(lead, { body })));
  },
};

/** Beyond the stack of recursive parsers; small enough for the usual limits of size. */
const depth = 20_000;

const deepBody = (): Buffer => Buffer.from(`{"id":${'['.repeat(depth)}${']'.repeat(depth)}}`);

const deepShellBody = `printf '{"id":%s%s}' ${brackets('[')} ${brackets(']')}`;

function brackets(bracket: string): string {
  return `"$(head -c ${depth} /dev/zero | tr '\\0' '${bracket}')"`;
}

/** One request serves both probes. */
const sent = new WeakMap<CheckSession['exchanges'], Exchange>();

const ofDeepBody = {
  rule: '4.2 rule 2',
  stage: 'alone',
  needsAcknowledgement: true,
} as const;

/** That the receiver lives afterwards is found out behind every probe that is run alone. */
export const deepBodySurvived: Probe = {
  ...ofDeepBody,
  name: 'body.deep',
  level: 'must',
  expected: `alive after JSON that nests ${depth} deep`,
  hint: 'bound the depth of JSON, or catch the error of its parser: one request must not stop the receiver',
  async run(session): Promise<Finding> {
    const exchange = await sendDeep(session);
    sent.set(session.exchanges, exchange);
    return { result: 'pass', seen: 'it is alive', exchange };
  },
};

export const deepBodyAnswer: Probe = {
  ...ofDeepBody,
  name: 'body.deep-answer',
  level: 'should',
  expected: `4xx to JSON that nests ${depth} deep`,
  hint: 'bound the depth of JSON, and answer 400',
  async run(session) {
    const exchange = sent.get(session.exchanges) ?? (await sendDeep(session));
    return expectRefused(exchange);
  },
};

const sendDeep = (session: CheckSession): Promise<Exchange> =>
  session.send({ ...session.deliveryOfBody(deepBody()), shellBody: deepShellBody });

/** Far beyond a lead, and quickly sent. */
const megabytes = 8;

const hugeShellBody = `printf '{"padding":"%s"}' "$(head -c ${megabytes << 20} /dev/zero | tr '\\0' x)"`;

export const hugeBody: Probe = {
  name: 'body.huge',
  rule: '4.2 rule 2',
  level: 'should',
  expected: `4xx to a body of ${megabytes} MiB`,
  hint: 'bound the size of a body, and answer 413 as soon as it is exceeded: a lead has a few hundred bytes',
  stage: 'alone',
  needsAcknowledgement: true,
  async run(session) {
    const body = Buffer.from(`{"padding":"${'x'.repeat(megabytes << 20)}"}`);
    const exchange = await session.send({ ...session.deliveryOfBody(body), shellBody: hugeShellBody });
    // To end the connection without reading on is a way of refusing as well.
    return isCutOff(exchange.answer)
      ? { result: 'pass', seen: describeAnswer(exchange.answer), exchange }
      : expectRefused(exchange);
  },
};

const longestMs = 3000;

export const slowBody: Probe = {
  name: 'body.slow',
  rule: '4.2 rule 2',
  level: 'should',
  expected: '2xx to a body that comes in pieces over some seconds',
  hint: 'read the body to its end before it is parsed: it may come in any number of pieces',
  needsAcknowledgement: true,
  isSlow: true,
  async run(session) {
    const sentWithinMs = Math.min(longestMs, session.wire.timeoutMs / 3);
    return expectAccepted(await session.send({ ...session.deliveryOf(session.newLead()), sentWithinMs }));
  },
};

const stalledBodies = 4;

export const stalledBody: Probe = {
  name: 'body.stalled',
  rule: '4.2 rule 2',
  level: 'should',
  expected: `2xx to a delivery while ${stalledBodies} others send half a body`,
  hint: 'serve several connections at once, and bound the time for one request',
  stage: 'alone',
  needsAcknowledgement: true,
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
};

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
