/**
 * `leads-cli/webhook`: is a delivery genuine, and which leads does it bring? Without dependencies, for Node and runtimes with
 * `node:crypto` (Bun, Deno); those that have WebCrypto alone are not served.
 */
export { ConfigError, LeadsError } from '../errors.ts';
export type { RejectReason } from '../webhook/rejection.ts';
export { explain } from './webhook/explain.ts';
export type { Lead } from './lead/lead.ts';
export type { RequestLimits } from './webhook/read-delivery.ts';
export { ParsedBodyError } from './webhook/request/parsed-body-error.ts';
export type {
  FetchRequest,
  NodeRequest,
  PlainRequest,
  WebhookRequest,
} from './webhook/request/request-types.ts';
export type { SchemeChoice, SchemeDefinition, SchemeName, SecretInput } from './webhook/scheme-choice.ts';
export { sign } from './webhook/sign.ts';
export type { SignedDelivery, SignedLead, SignOptions } from './webhook/sign-options.ts';
export { verify } from './webhook/verify.ts';
export type { Refused, Verified, VerifyOptions } from './webhook/verify-options.ts';
