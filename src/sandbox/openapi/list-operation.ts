import type { ApiOptions, ParameterNames } from '../api/api-options.ts';
import { ref } from './schemas.ts';

type Json = Readonly<Record<string, unknown>>;

const described: Readonly<Record<keyof ParameterNames, Json>> = {
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

/** Section 4.1 of the specification, with its gaps filled as these options fill them. */
export function listOperation(api: ApiOptions): Json {
  const ways: readonly (keyof ParameterNames)[] =
    api.pagination === 'none' ? [] : ['limit', api.pagination === 'link' ? 'cursor' : api.pagination];
  const used = [...ways, 'status', 'category', 'since', 'until'] as const;
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
          ...(api.pagination === 'link' && { Link: text('rel="next" leads on.') }),
        },
        content: { 'application/json': { schema: envelopeSchema(api) } },
      },
      400: failure('The query makes no sense.', api),
      401: failure('No key, or a wrong one.', api),
      405: failure('Not a GET.', api),
      429: failure('Too many requests; Retry-After says when to come back.', api),
      500: failure('The service failed.', api),
      503: failure('The service is down.', api),
    },
  };
}

const text = (description: string): Json => ({ description, schema: { type: 'string' } });

const headers = (api: ApiOptions): Json => ({
  'X-Request-Id': text('Names the request.'),
  ...(api.rateLimit !== undefined && {
    'X-RateLimit-Limit': text('Requests in one window.'),
    'X-RateLimit-Remaining': text('Requests left in this one.'),
    'X-RateLimit-Reset': text('When the next one begins, in Unix seconds.'),
  }),
});

const failure = (description: string, api: ApiOptions): Json => ({
  description,
  headers: headers(api),
  content: { 'application/json': { schema: ref('Error') } },
});

function envelopeSchema(api: ApiOptions): Json {
  const array = { type: 'array', items: ref('ListedLead') };
  if (api.envelope === 'none') return array;
  return api.envelope
    .split('.')
    .reduceRight<Json>(
      (inner, name) => ({ type: 'object', required: [name], properties: { [name]: inner } }),
      array,
    );
}
