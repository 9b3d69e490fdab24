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

/** Section 4.1 of the specification; what it leaves open is as these options say. */
export function listOperation(api: ApiOptions): Json {
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
          ...(api.pagination === 'link' && { Link: text('rel="next" is the URL of the next page.') }),
        },
        content: { 'application/json': { schema: envelopeSchema(api) } },
      },
      400: failure('The query is not valid.', api),
      401: failure('The API key is missing or wrong.', api),
      405: failure('The method is not GET.', api),
      429: failure('Too many requests; Retry-After says how long to wait.', api),
      500: failure('The service failed.', api),
      503: failure('The service is not available.', api),
    },
  };
}

const text = (description: string): Json => ({ description, schema: { type: 'string' } });

const headers = (api: ApiOptions): Json => ({
  'X-Request-Id': text('Names the request.'),
  ...(api.rateLimit !== undefined && {
    'X-RateLimit-Limit': text('Requests in one window.'),
    'X-RateLimit-Remaining': text('Requests left in this window.'),
    'X-RateLimit-Reset': text('When the next window begins, in Unix seconds.'),
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
