import { counted } from '../output/terminal/progress.ts';
import type { ForeignRequest, ReceiverNote, ReceiverProblem, TargetProblem } from '../receiver/problems.ts';
import type { Messages } from './message.ts';

type Unreached = Extract<TargetProblem, { readonly kind: 'target-unreached' }>;

const unreached: Readonly<Record<Unreached['why'], (found: Unreached) => string>> = {
  timeout: ({ timeoutMs }) => `no answer within ${timeoutMs / 1000} s`,
  refused: () => 'connection refused',
  'speaks-plain-http': () => 'the app speaks plain HTTP: use http://',
  'closed-on-plain-http': () => 'connection closed without an answer: is it HTTPS?',
  aborted: () => 'given up at the end',
  other: ({ reason }) => reason,
};

export const receiverMessages: Messages<ReceiverProblem | ReceiverNote | ForeignRequest | TargetProblem> = {
  'no-delivery-of-lead': ({ leadId }) => `the inbox has no delivery of the lead '${leadId}'`,
  'delivery-without-lead': ({ number }) => `delivery number ${number} of the inbox holds no lead`,
  'request-for-foreign-host': ({ host }) => `the request is for the host '${host}'`,
  'request-from-foreign-page': ({ origin }) => `the request comes from a page of '${origin}'`,
  'target-path-left': ({ url }) => `its path leads out of ${url}`,
  'target-unreached': (found) => {
    const through = found.proxy === undefined ? '' : ` (through the proxy ${found.proxy})`;
    return { message: unreached[found.why](found) + through };
  },
  'former-secret-used': ({ number, secrets }) => `deliveries still use secret ${number} of ${secrets}`,
  'former-secret-unused': ({ number, secrets, hours }) =>
    `no delivery used secret ${number} of ${secrets} for ${hours}h: it can be removed`,
  'rejected-not-kept': ({ why }) => `${why}; rejected deliveries are not kept`,
  'forward-unsigned': ({ scheme }) =>
    `leads are forwarded without a signature: '${scheme}' has no key here that signs`,
  'given-up': ({ target, leads }) =>
    `${counted(leads, 'lead is', 'leads are')} dead for ${target}, which did not take ` +
    `${leads === 1 ? 'it' : 'them'}: kept, and tried again after 'leads inbox retry --pending'`,
  'forwards-stopped': ({ why }) => `leads that wait are not forwarded now: ${why}`,
  'lead-not-sent': ({ leadId, why }) => `${why}; '${leadId}' is not forwarded`,
  'lead-for-no-target': ({ leadId }) =>
    `the lead '${leadId}' meets the condition of no target: it is stored and forwarded to none, and so are others like it`,
  'output-cut': ({ path, size, left }) =>
    `${path} was cut from ${size} to ${left} bytes by another program: leads written meanwhile may be gone from it; ` +
    'rotate it by renaming it',
  'pulled-without-id': ({ leads }) =>
    `${counted(leads, 'lead of the service has', 'leads of the service have')} no id: ` +
    `the backfill cannot take ${leads === 1 ? 'it' : 'them'} in`,
};
