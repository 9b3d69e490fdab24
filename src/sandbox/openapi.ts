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

const ref = (name: string): Json => ({ $ref: `#/components/schemas/${name}` });
const text: Json = { type: 'string' };
const time: Json = { type: 'string', format: 'date-time' };
const yesOrNo: Json = { type: 'boolean' };
const whole = (minimum: number): Json => ({ type: 'integer', minimum });
const count = whole(0);
const list = (items: Json): Json => ({ type: 'array', items });
const byName = (additionalProperties: Json): Json => ({ type: 'object', additionalProperties });
const shares = byName({ type: 'string', examples: ['5%', '1%:200ms'] });
const described = (description: string, schema: Json): Json => ({ description, schema });
const parameter = (name: string, description: string, schema: Json): Json => ({
  name,
  in: 'query',
  ...described(description, schema),
});
const content = (schema: Json): Json => ({ content: { 'application/json': { schema } } });
const failure = (description: string, headers?: Json): Json => ({
  description,
  ...(headers && { headers }),
  ...content(ref('Error')),
});

/** An object that has all of these and may have more, since services grow. */
const open = (properties: Record<string, Json>, optional: readonly string[] = []): Json => ({
  type: 'object',
  required: Object.keys(properties).filter((name) => !optional.includes(name)),
  properties,
});

const page = (items: string, item: Json, more: Record<string, Json> = {}): Json =>
  open({ [items]: list(item), next: { type: ['integer', 'null'] }, total: count, ...more });

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
    ...described('Proves who sent the lead.', text),
  })),
  requestBody: { required: true, ...content(ref('Lead')) },
  responses: {
    200: { description: 'Acknowledged. After any other answer the lead is delivered again later.' },
    default: { description: 'Not acknowledged.' },
  },
});

const listParameters: Readonly<Record<keyof ParameterNames, Json>> = {
  limit: described('Leads to return.', whole(1)),
  status: described('Only leads of this status.', { type: 'string', examples: ['new'] }),
  category: { ...described('Only leads of these categories.', list(text)), explode: true },
  since: described('Created then or later: ISO 8601, or Unix time.', text),
  until: described('Created before then: ISO 8601, or Unix time.', text),
  cursor: described('Where the page before ended.', text),
  page: described('From 1.', whole(1)),
  offset: described('Leads to skip.', whole(0)),
};

/** Section 4.1 of the specification; what it leaves open is as these options say. */
function listOperation(api: ApiOptions): Json {
  const pageParameters: readonly (keyof ParameterNames)[] =
    api.pagination === 'none' ? [] : ['limit', api.pagination === 'link' ? 'cursor' : api.pagination];
  const used = [...pageParameters, 'status', 'category', 'since', 'until'] as const;
  const headers = {
    'X-Request-Id': described('Names the request.', text),
    ...(api.rateLimit !== undefined && {
      'X-RateLimit-Limit': described('Requests in one window.', text),
      'X-RateLimit-Remaining': described('Requests left in this window.', text),
      'X-RateLimit-Reset': described('When the next window begins, in Unix seconds.', text),
    }),
  };
  const link = { Link: described('rel="next" is the URL of the next page.', text) };
  return {
    operationId: 'listLeads',
    summary: 'List leads',
    security: [{ apiKey: [] }],
    parameters: used.flatMap((key) => {
      const name = api.params[key];
      return name === null ? [] : [{ name, in: 'query', ...listParameters[key] }];
    }),
    responses: {
      200: {
        description: 'One page of leads.',
        headers: { ...headers, ...(api.pagination === 'link' && link) },
        ...content(envelopeSchema(api)),
      },
      400: failure('The query is not valid.', headers),
      401: failure('The API key is missing or wrong.', headers),
      405: failure('The method is not GET.', headers),
      429: failure('Too many requests; Retry-After says how long to wait.', headers),
      500: failure('The service failed.', headers),
      503: failure('The service is not available.', headers),
    },
  };
}

function envelopeSchema({ envelope }: ApiOptions): Json {
  const array = list(ref('ListedLead'));
  if (envelope === 'none') return array;
  return envelope
    .split('.')
    .reduceRight<Json>(
      (inner, name) => ({ type: 'object', required: [name], properties: { [name]: inner } }),
      array,
    );
}

/** Section 2 of the specification, and what the control endpoints answer. */
function schemas(api: ApiOptions): Record<string, Json> {
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
        attempt: whole(1),
        at: time,
        outcome: { enum: ['acknowledged', 'refused', 'unanswered', 'dropped'] },
        status: { type: 'integer' },
        error: text,
        durationMs: { type: 'number', minimum: 0 },
        faults: list(text),
        forged: { ...yesOrNo, description: 'A receiver that verifies must have rejected it.' },
      },
      ['status', 'error'],
    ),
    Deliveries: page('deliveries', ref('Attempt'), {
      acknowledged: { ...count, description: 'Leads that some attempt for was answered 200.' },
      pending: count,
      paused: yesOrNo,
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
        faults: list(text),
      }),
    ),
    Leads: page(
      'leads',
      open({ id: text, seq: count, status: text, acknowledged: yesOrNo, lead: ref('Lead') }),
    ),
    Faults: open({
      api: shares,
      deliveries: shares,
      injected: open({ api: byName(count), deliveries: byName(count) }),
    }),
    ChangedFaults: {
      type: 'object',
      properties: { api: shares, deliveries: shares },
      additionalProperties: false,
    },
    Added: open({ ids: list(text) }),
    State: open({ leads: count, pending: count, paused: yesOrNo }),
  };
}

const notLocal = failure('The request comes from another machine, or from a page in a browser.');

/** One control endpoint, which needs no API key: it is for this machine alone. */
const operation = (
  operationId: string,
  summary: string,
  answer: string,
  { responses, parameters = [], ...more }: Json & { responses?: Json; parameters?: readonly Json[] } = {},
): Json => ({
  operationId,
  summary,
  security: [],
  ...more,
  parameters: [accountParameter, ...parameters],
  responses: {
    200: { description: summary, ...content(ref(answer)) },
    403: notLocal,
    404: noAccount,
    ...responses,
  },
});

const accountParameter = parameter('account', 'Of this account; default: the first.', text);
const noAccount = failure('There is no such account.');
const invalid = { 400: failure('The request is not valid.') };
const sliced = {
  parameters: [
    parameter('after', 'Entries to skip.', whole(0)),
    parameter('limit', 'Entries to return.', whole(1)),
  ],
  responses: invalid,
};

/** What the sandbox adds to the service: its control endpoints. */
const controlOperations: Json = {
  '/sandbox/leads': {
    get: operation('leadsTruth', 'Every lead and the state of its delivery', 'Leads', sliced),
    post: {
      operationId: 'addLeads',
      summary: 'Add the lead in the body, or generated leads',
      security: [],
      parameters: [accountParameter, parameter('count', 'How many to generate.', whole(1))],
      requestBody: { required: false, ...content(ref('Lead')) },
      responses: {
        201: { description: 'Their ids.', ...content(ref('Added')) },
        400: failure('The body is not a lead.'),
        403: notLocal,
        404: noAccount,
        409: failure('There is a lead with this id already.'),
        413: failure('The lead is too large.'),
      },
    },
  },
  '/sandbox/requests': {
    get: operation('requestsTruth', 'Every request of the list operation', 'Requests', sliced),
  },
  '/sandbox/deliveries': {
    get: operation('deliveriesTruth', 'Every attempt to deliver a lead', 'Deliveries', {
      parameters: [...sliced.parameters, parameter('lead', 'Only for this lead.', text)],
      responses: invalid,
    }),
    delete: operation('cancelDeliveries', 'Cancel pending deliveries and forget all attempts', 'State'),
  },
  '/sandbox/deliveries/pause': { post: operation('pauseDeliveries', 'Pause deliveries', 'State') },
  '/sandbox/deliveries/resume': { post: operation('resumeDeliveries', 'Resume deliveries', 'State') },
  '/sandbox/faults': {
    get: operation('faults', 'Faults in force, and how many were injected', 'Faults'),
    put: operation('changeFaults', 'Replace the faults of each side that the body names', 'Faults', {
      requestBody: { required: true, ...content(ref('ChangedFaults')) },
      responses: invalid,
    }),
  },
  '/sandbox/reset': { post: operation('reset', 'Put leads, records and faults back to the start', 'State') },
};
