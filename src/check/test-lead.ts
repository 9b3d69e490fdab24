/** A lead that a probe made. */
export interface TestLead {
  readonly id: string;
  readonly value: Readonly<Record<string, unknown>>;
}

/** Numbers reserved for fiction (North American Numbering Plan), so that no real phone rings. */
const phone = '+1 202-555-0142';

/**
 * A lead of section 2 of the specification that cannot be mistaken for a real one: test ids, a reserved domain, a fictional
 * number. It nests two deep. `now` in milliseconds since the epoch.
 */
export function testLead(id: string, now: number, more: Readonly<Record<string, unknown>> = {}): TestLead {
  const contact = { name: 'Leads Check', email: `${id}@example.com`, phone };
  const metadata = { source: 'leads-check' };
  const createdAt = new Date(now).toISOString();
  return { id, value: { id, category: 'test', contact, metadata, createdAt, ...more } };
}

export const jsonOf = ({ value }: TestLead): Buffer => Buffer.from(JSON.stringify(value));
