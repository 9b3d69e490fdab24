import type { ApiOptions } from '../api/api-options.ts';
import { controlOperations } from './control-operations.ts';
import { listOperation } from './list-operation.ts';
import { ref, schemas } from './schemas.ts';

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
