import { expectAccepted } from '../judge-answer.ts';
import type { Finding, Probe } from '../check-probe.ts';
import type { CheckSession } from '../session.ts';
import type { TestLead } from '../test-lead.ts';

const common = { rule: '2', level: 'should', needsAcknowledgement: true } as const;

/** A genuine lead that is well-formed and unusual. */
function oddLead(
  name: string,
  lead: (session: CheckSession) => { readonly lead: TestLead; readonly body?: Buffer },
  texts: Pick<Probe, 'expected' | 'hint'> & Partial<Pick<Probe, 'level'>>,
): Probe {
  return {
    ...common,
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
  ...common,
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
