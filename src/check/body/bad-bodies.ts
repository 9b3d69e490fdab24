import { expectRefused } from '../judge-answer.ts';
import type { Probe } from '../check-probe.ts';
import type { CheckSession } from '../session.ts';

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
