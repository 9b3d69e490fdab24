import { isCutOff, rawExchange } from '../exchange.ts';
import {
  describeAnswer,
  expectAccepted,
  expectRefused,
  type Finding,
  type Probe,
  worstOf,
} from '../probe.ts';
import type { CheckSession } from '../session.ts';

const common = { rule: '4.2 rule 1', level: 'should' } as const;

export const wrongMethod: Probe = {
  ...common,
  name: 'protocol.method',
  expected: '4xx to GET and PUT',
  hint: 'take POST alone, and answer 405 to every other method',
  isHarmless: true,
  async run(session) {
    const request = session.deliveryOf(session.newLead());
    const empty = Buffer.alloc(0);
    return worstOf([
      expectRefused(await session.send({ ...request, method: 'PUT' })),
      expectRefused(await session.send({ ...request, method: 'GET', body: empty, leadId: undefined })),
    ]);
  },
};

export const wrongContentType: Probe = {
  ...common,
  name: 'protocol.content-type',
  expected: '4xx to a lead that is sent as text/plain',
  hint: 'answer 415 to anything but application/json: a web page can send text/plain to any address',
  isHarmless: true,
  needsAcknowledgement: true,
  async run(session) {
    const request = session.deliveryOf(session.newLead());
    const headers = request.headers.map(([name, value]) =>
      name === 'Content-Type' ? ([name, 'text/plain'] as const) : ([name, value] as const),
    );
    return expectRefused(await session.send({ ...request, headers }));
  },
};

export const chunkedBody: Probe = {
  ...common,
  name: 'protocol.chunked',
  expected: '2xx to a chunked body',
  hint: 'read a body without Content-Length as well (RFC 9112, section 7.1)',
  needsAcknowledgement: true,
  run: async (session) =>
    expectAccepted(await session.send({ ...session.deliveryOf(session.newLead()), isChunked: true })),
};

export const malformedRequest: Probe = {
  name: 'protocol.malformed',
  rule: '4.2 rule 1',
  level: 'should',
  expected: '4xx, or the end of the connection, to what is not HTTP',
  hint: 'leave the parsing of requests to the HTTP server, and let it refuse what it cannot read',
  isHarmless: true,
  stage: 'alone',
  inapplicable: ({ endpoint }) =>
    endpoint.proxy === undefined ? undefined : 'the receiver is reached through a proxy',
  async run(session) {
    const { url } = session.endpoint;
    const start = `POST ${url.pathname} HTTP/1.1\r\nHost: ${url.host}\r\n`;
    return worstOf([
      await judged(session, `${start}a line without a colon\r\n\r\n`),
      await judged(session, `${start}Content-Type: application/json\r\nContent-Length: many\r\n\r\n{}`),
      await judged(session, '\x16\x03 leads-check\r\n\r\n'),
    ]);
  },
};

/** None of them carries a credential or a lead. */
async function judged(session: CheckSession, bytes: string): Promise<Finding> {
  const answer = await rawExchange(session.endpoint, bytes, session.wire);
  const isRefused = answer.answered ? answer.status >= 300 && answer.status < 500 : isCutOff(answer);
  return { result: isRefused ? 'pass' : 'fail', seen: describeAnswer(answer) };
}
