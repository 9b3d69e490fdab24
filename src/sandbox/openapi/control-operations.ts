import { ref } from './schemas.ts';

type Json = Readonly<Record<string, unknown>>;

const body = (schema: Json): Json => ({ content: { 'application/json': { schema } } });
const failure = (description: string): Json => ({ description, ...body(ref('Error')) });

const partial = [
  { name: 'after', in: 'query', description: 'Entries to skip.', schema: { type: 'integer', minimum: 0 } },
  { name: 'limit', in: 'query', description: 'Entries to return.', schema: { type: 'integer', minimum: 1 } },
];

function operation(
  operationId: string,
  summary: string,
  answer: string,
  more: Json & { responses?: Json } = {},
): Json {
  const { responses, ...rest } = more;
  return {
    operationId,
    summary,
    ...rest,
    responses: {
      200: { description: summary, ...body(ref(answer)) },
      403: failure('Not from this machine, or from a page in its browser.'),
      ...responses,
    },
  };
}

const nonsense = { 400: failure('The request makes no sense.') };

/** What the sandbox adds to the service: control and truth. */
export const controlOperations: Json = {
  '/sandbox/leads': {
    get: operation('leadsTruth', 'Every lead and how its delivery stands', 'Leads', {
      parameters: partial,
      responses: nonsense,
    }),
    post: {
      operationId: 'addLeads',
      summary: 'Add a lead, generated unless the body holds one',
      parameters: [
        {
          name: 'count',
          in: 'query',
          description: 'How many to generate.',
          schema: { type: 'integer', minimum: 1 },
        },
      ],
      requestBody: { required: false, ...body(ref('Lead')) },
      responses: {
        201: { description: 'Their ids.', ...body(ref('Added')) },
        400: failure('Not a lead.'),
        403: failure('Not from this machine, or from a page in its browser.'),
        409: failure('The id is taken.'),
        413: failure('Too large.'),
      },
    },
  },
  '/sandbox/requests': {
    get: operation('requestsTruth', 'Every request of the list operation', 'Requests', {
      parameters: partial,
      responses: nonsense,
    }),
  },
  '/sandbox/deliveries': {
    get: operation('deliveriesTruth', 'Every attempt to deliver', 'Deliveries', {
      parameters: [
        ...partial,
        { name: 'lead', in: 'query', description: 'Only for this lead.', schema: { type: 'string' } },
      ],
      responses: nonsense,
    }),
    delete: operation('cancelDeliveries', 'Cancel what is pending and forget what was', 'State'),
  },
  '/sandbox/deliveries/pause': { post: operation('pauseDeliveries', 'Hold deliveries back', 'State') },
  '/sandbox/deliveries/resume': { post: operation('resumeDeliveries', 'Go on delivering', 'State') },
  '/sandbox/faults': {
    get: operation('faults', 'Faults in force, and how many were injected', 'Faults'),
    put: operation('changeFaults', 'Replace the faults of each side that is named', 'Faults', {
      requestBody: { required: true, ...body(ref('ChangedFaults')) },
      responses: nonsense,
    }),
  },
  '/sandbox/reset': { post: operation('reset', 'Leads, truth and faults as at the start', 'State') },
};
