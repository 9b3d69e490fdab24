import { ref } from './schemas.ts';

type Json = Readonly<Record<string, unknown>>;

const body = (schema: Json): Json => ({ content: { 'application/json': { schema } } });
const failure = (description: string): Json => ({ description, ...body(ref('Error')) });

const sliceParameters = [
  { name: 'after', in: 'query', description: 'Entries to skip.', schema: { type: 'integer', minimum: 0 } },
  { name: 'limit', in: 'query', description: 'Entries to return.', schema: { type: 'integer', minimum: 1 } },
];

/** Control needs no API key: it is for this machine alone. */
const noKey: readonly Json[] = [];

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
    security: noKey,
    ...rest,
    responses: {
      200: { description: summary, ...body(ref(answer)) },
      403: failure('The request comes from another machine, or from a page in a browser.'),
      ...responses,
    },
  };
}

const invalidRequest = { 400: failure('The request is not valid.') };

/** What the sandbox adds to the service: its control endpoints. */
export const controlOperations: Json = {
  '/sandbox/leads': {
    get: operation('leadsTruth', 'Every lead and the state of its delivery', 'Leads', {
      parameters: sliceParameters,
      responses: invalidRequest,
    }),
    post: {
      operationId: 'addLeads',
      summary: 'Add the lead in the body, or generated leads',
      security: noKey,
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
        400: failure('The body is not a lead.'),
        403: failure('The request comes from another machine, or from a page in a browser.'),
        409: failure('There is a lead with this id already.'),
        413: failure('The lead is too large.'),
      },
    },
  },
  '/sandbox/requests': {
    get: operation('requestsTruth', 'Every request of the list operation', 'Requests', {
      parameters: sliceParameters,
      responses: invalidRequest,
    }),
  },
  '/sandbox/deliveries': {
    get: operation('deliveriesTruth', 'Every attempt to deliver a lead', 'Deliveries', {
      parameters: [
        ...sliceParameters,
        { name: 'lead', in: 'query', description: 'Only for this lead.', schema: { type: 'string' } },
      ],
      responses: invalidRequest,
    }),
    delete: operation('cancelDeliveries', 'Cancel pending deliveries and forget all attempts', 'State'),
  },
  '/sandbox/deliveries/pause': { post: operation('pauseDeliveries', 'Pause deliveries', 'State') },
  '/sandbox/deliveries/resume': { post: operation('resumeDeliveries', 'Resume deliveries', 'State') },
  '/sandbox/faults': {
    get: operation('faults', 'Faults in force, and how many were injected', 'Faults'),
    put: operation('changeFaults', 'Replace the faults of each side that the body names', 'Faults', {
      requestBody: { required: true, ...body(ref('ChangedFaults')) },
      responses: invalidRequest,
    }),
  },
  '/sandbox/reset': { post: operation('reset', 'Put leads, records and faults back to the start', 'State') },
};
