import type { ApiOptions, ParameterNames } from './sandbox-options.ts';

type Json = Readonly<Record<string, unknown>>;

/** The whole service as OpenAPI 3.1: the list operation as these options make it, the webhook, the control endpoints. */
export function openapi(api: ApiOptions, url: string, credentialHeaders: readonly string[]): Json {
  const { path } = api;
  return {
    openapi: '3.1.0',
    info: {
      title: 'Lead delivery service (sandbox)',
      version: LEADS_VERSION,
      license: { name: 'MIT', identifier: 'MIT' },
      description:
        'Lists leads, and delivers each of them to webhooks. Everything below /sandbox is for tests.',
    },
    servers: [{ url }],
    paths: { [path.split('?', 1)[0] ?? path]: { get: listOperation(api) }, ...controlOperations },
    webhooks: { lead: { post: webhook(credentialHeaders) } },
    components: {
      securitySchemes: { apiKey: { type: 'http', scheme: 'bearer' } },
      schemas: schemas(api),
    },
  };
}

/** Section 4.2 of the specification. */
const webhook = (credentialHeaders: readonly string[]): Json => ({
  operationId: 'deliverLead',
  summary: 'One lead, delivered to a webhook',
  // What proves the sender depends on the scheme: it is described by its headers.
  security: [],
  parameters: credentialHeaders.map((name) => ({
    name,
    in: 'header',
    required: true,
    description: 'Proves who sent the lead.',
    schema: { type: 'string' },
  })),
  requestBody: { required: true, content: { 'application/json': { schema: ref('Lead') } } },
  responses: {
    200: { description: 'Acknowledged. After any other answer the lead is delivered again later.' },
    default: { description: 'Not acknowledged.' },
  },
});

type ListJson = Readonly<Record<string, unknown>>;

const described: Readonly<Record<keyof ParameterNames, ListJson>> = {
  limit: { description: 'Leads to return.', schema: { type: 'integer', minimum: 1 } },
  status: { description: 'Only leads of this status.', schema: { type: 'string', examples: ['new'] } },
  category: {
    description: 'Only leads of these categories.',
    schema: { type: 'array', items: { type: 'string' } },
    explode: true,
  },
  since: { description: 'Created then or later: ISO 8601, or Unix time.', schema: { type: 'string' } },
  until: { description: 'Created before then: ISO 8601, or Unix time.', schema: { type: 'string' } },
  cursor: { description: 'Where the page before ended.', schema: { type: 'string' } },
  page: { description: 'From 1.', schema: { type: 'integer', minimum: 1 } },
  offset: { description: 'Leads to skip.', schema: { type: 'integer', minimum: 0 } },
};

/** Section 4.1 of the specification; what it leaves open is as these options say. */
function listOperation(api: ApiOptions): ListJson {
  const pageParameters: readonly (keyof ParameterNames)[] =
    api.pagination === 'none' ? [] : ['limit', api.pagination === 'link' ? 'cursor' : api.pagination];
  const used = [...pageParameters, 'status', 'category', 'since', 'until'] as const;
  return {
    operationId: 'listLeads',
    summary: 'List leads',
    security: [{ apiKey: [] }],
    parameters: used.flatMap((key) => {
      const name = api.params[key];
      return name === null ? [] : [{ name, in: 'query', ...described[key] }];
    }),
    responses: {
      200: {
        description: 'One page of leads.',
        headers: {
          ...headers(api),
          ...(api.pagination === 'link' && { Link: textHeader('rel="next" is the URL of the next page.') }),
        },
        content: { 'application/json': { schema: envelopeSchema(api) } },
      },
      400: listFailure('The query is not valid.', api),
      401: listFailure('The API key is missing or wrong.', api),
      405: listFailure('The method is not GET.', api),
      429: listFailure('Too many requests; Retry-After says how long to wait.', api),
      500: listFailure('The service failed.', api),
      503: listFailure('The service is not available.', api),
    },
  };
}

const textHeader = (description: string): ListJson => ({ description, schema: { type: 'string' } });

const headers = (api: ApiOptions): ListJson => ({
  'X-Request-Id': textHeader('Names the request.'),
  ...(api.rateLimit !== undefined && {
    'X-RateLimit-Limit': textHeader('Requests in one window.'),
    'X-RateLimit-Remaining': textHeader('Requests left in this window.'),
    'X-RateLimit-Reset': textHeader('When the next window begins, in Unix seconds.'),
  }),
});

const listFailure = (description: string, api: ApiOptions): ListJson => ({
  description,
  headers: headers(api),
  content: { 'application/json': { schema: ref('Error') } },
});

function envelopeSchema(api: ApiOptions): ListJson {
  const array = { type: 'array', items: ref('ListedLead') };
  if (api.envelope === 'none') return array;
  return api.envelope
    .split('.')
    .reduceRight<ListJson>(
      (inner, name) => ({ type: 'object', required: [name], properties: { [name]: inner } }),
      array,
    );
}

type Schema = Readonly<Record<string, unknown>>;

const ref = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` });

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
function schemas(api: ApiOptions): Record<string, Schema> {
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

type ControlJson = Readonly<Record<string, unknown>>;

const body = (schema: ControlJson): ControlJson => ({ content: { 'application/json': { schema } } });
const controlFailure = (description: string): ControlJson => ({ description, ...body(ref('Error')) });

const sliceParameters = [
  { name: 'after', in: 'query', description: 'Entries to skip.', schema: { type: 'integer', minimum: 0 } },
  { name: 'limit', in: 'query', description: 'Entries to return.', schema: { type: 'integer', minimum: 1 } },
];

/** Control needs no API key: it is for this machine alone. */
const noKey: readonly ControlJson[] = [];

function operation(
  operationId: string,
  summary: string,
  answer: string,
  more: ControlJson & { responses?: ControlJson } = {},
): ControlJson {
  const { responses, ...rest } = more;
  return {
    operationId,
    summary,
    security: noKey,
    ...rest,
    responses: {
      200: { description: summary, ...body(ref(answer)) },
      403: controlFailure('The request comes from another machine, or from a page in a browser.'),
      ...responses,
    },
  };
}

const invalidRequest = { 400: controlFailure('The request is not valid.') };

/** What the sandbox adds to the service: its control endpoints. */
const controlOperations: ControlJson = {
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
        400: controlFailure('The body is not a lead.'),
        403: controlFailure('The request comes from another machine, or from a page in a browser.'),
        409: controlFailure('There is a lead with this id already.'),
        413: controlFailure('The lead is too large.'),
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
