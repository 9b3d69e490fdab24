import type { Scheme } from '../scheme.ts';
import { hmacScheme } from '../schemes/hmac-scheme.ts';

/**
 * `X-Slack-Signature: v0=<hex>` over `v0:<timestamp>:<body>`.
 * https://docs.slack.dev/authentication/verifying-requests-from-slack
 */
export const slack = (toleranceMs: number): Scheme =>
  hmacScheme({
    name: 'slack',
    signatureHeader: 'x-slack-signature',
    algorithm: 'hmac-sha256',
    encoding: 'hex',
    prefix: 'v0=',
    content: 'v0:{timestamp}:{body}',
    secretEncoding: 'utf8',
    timestampHeader: 'x-slack-request-timestamp',
    timestampFormat: 'unix',
    toleranceMs,
  });
