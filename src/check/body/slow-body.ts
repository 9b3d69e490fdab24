import { describeAnswer, expectAccepted } from '../judge-answer.ts';
import type { Probe } from '../check-probe.ts';
import type { CheckSession } from '../session.ts';
import { isAcknowledged } from '../delivery/valid-delivery.ts';
import { openSocket } from '../wire/endpoint.ts';

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
