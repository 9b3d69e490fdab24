import { expectAccepted, expectRefused } from '../judge-answer.ts';
import { type Probe, worstOf } from '../check-probe.ts';

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
