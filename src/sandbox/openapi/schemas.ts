import type { ApiOptions } from '../api/api-options.ts';

type Schema = Readonly<Record<string, unknown>>;

export const ref = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` });

const text: Schema = { type: 'string' };
const time: Schema = { type: 'string', format: 'date-time' };
const count: Schema = { type: 'integer', minimum: 0 };
const shares: Schema = {
  type: 'object',
  additionalProperties: { type: 'string', examples: ['5%', '1%:200ms'] },
};

/** An object that has all of these and may have more, since services grow. */
const open = (properties: Record<string, Schema>, optional: readonly string[] = []): Schema => ({
  type: 'object',
  required: Object.keys(properties).filter((name) => !optional.includes(name)),
  properties,
});

const page = (items: string, item: Schema, more: Record<string, Schema> = {}): Schema =>
  open({
    [items]: { type: 'array', items: item },
    next: { type: ['integer', 'null'] },
    total: count,
    ...more,
  });

/** Section 2 of the specification, and what the control endpoints answer. */
export function schemas(api: ApiOptions): Record<string, Schema> {
  return {
    Lead: {
      description: 'One record. It may have more fields than these, and receivers keep them.',
      ...open({
        id: { type: ['string', 'integer'], description: 'Unique per lead; receivers deduplicate by it.' },
        category: text,
        contact: open({ name: text, email: text, phone: { ...text, description: 'Free text.' } }),
        metadata: open({ source: text }),
        createdAt: { ...time, description: 'ISO 8601, UTC.' },
      }),
    },
    ListedLead: {
      description: 'A record as it is listed: with its delivery status.',
      allOf: [
        ref('Lead'),
        open({ [api.statusField]: { type: 'string', examples: ['new', 'delivered', 'failed'] } }),
      ],
    },
    Error: open({ error: text, message: text }),
    Attempt: open(
      {
        deliveryId: text,
        leadId: text,
        target: text,
        attempt: { type: 'integer', minimum: 1 },
        at: time,
        outcome: { enum: ['acknowledged', 'refused', 'unanswered', 'dropped'] },
        status: { type: 'integer' },
        error: text,
        durationMs: { type: 'number', minimum: 0 },
        faults: { type: 'array', items: text },
        forged: { type: 'boolean', description: 'A receiver that verifies must have rejected it.' },
      },
      ['status', 'error'],
    ),
    Deliveries: page('deliveries', ref('Attempt'), {
      acknowledged: { ...count, description: 'Leads that some attempt for was answered 200.' },
      pending: count,
      paused: { type: 'boolean' },
    }),
    Requests: page(
      'requests',
      open({
        id: text,
        at: time,
        method: text,
        target: text,
        status: { type: ['integer', 'null'], description: 'Null when the connection was reset instead.' },
        leads: count,
        faults: { type: 'array', items: text },
      }),
    ),
    Leads: page(
      'leads',
      open({ id: text, seq: count, status: text, acknowledged: { type: 'boolean' }, lead: ref('Lead') }),
    ),
    Faults: open({
      api: shares,
      deliveries: shares,
      injected: open({
        api: { type: 'object', additionalProperties: count },
        deliveries: { type: 'object', additionalProperties: count },
      }),
    }),
    ChangedFaults: {
      type: 'object',
      properties: { api: shares, deliveries: shares },
      additionalProperties: false,
    },
    Added: open({ ids: { type: 'array', items: text } }),
    State: open({ leads: count, pending: count, paused: { type: 'boolean' } }),
  };
}
