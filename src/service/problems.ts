import { DataError, ServiceError, type ErrorDetails, type KindsOf, type Problem } from '../errors.ts';

export type ServiceProblem =
  | ConnectionProblem
  | RejectionProblem
  | AnswerProblem
  | UnprovenReason
  | EndNote
  | KindsOf<{
      /** Leads come whose status is another one than was asked for. */
      'other-status': { field: string; status: string; wanted: string };
      /** After so many requests; `of` is the failure of the last one. */
      'gave-up': { of: Problem; tries: number };
      /** The service asked to wait for longer than a run may take; ms, and when that is over, since the epoch. */
      'asked-to-come-back': { of: Problem; waitMs: number; at: number };
      /** `since`: leads that were created then or later surely came. */
      incomplete: { what: 'leads' | 'pages'; reason: UnprovenReason; since: string | undefined };
      /** The text of a setting is neither `auto` nor a JSON Pointer. */
      'no-pointer': { setting: string; text: string; example: string };
    }>;

/** Why no safe connection came about. */
export type TlsCause =
  | 'expired'
  | 'not-yet-valid'
  | 'other-host'
  | 'unknown-authority'
  | 'old-protocol'
  | 'no-http1'
  | 'client-certificate'
  | 'handshake'
  | 'other';

/** `code` is that of node or undici; `why` are the words of a library. */
type ConnectionProblem = KindsOf<{
  unreachable: { origin: string; code: string; mayBeTls: boolean };
  'no-such-host': { origin: string };
  'answers-in-plain-http': { origin: string; isLoopback: boolean };
  'unsafe-connection': { origin: string; cause: TlsCause; detail: string };
  'connection-failed': { origin: string; why: string };
  'proxy-refuses': { origin: string; status: string };
  'proxy-unreachable': { proxy: string; code: string; why: string };
}>;

/** `reason`: what the service says of its failure, without secrets. */
type RejectionProblem = KindsOf<{
  /** `keyIsFromCommand`: the key is what `api-key-command` printed. */
  'key-refused': {
    status: number;
    reason: string | undefined;
    profile: string | undefined;
    keyIsFromCommand: boolean;
  };
  'rate-limited': { status: number; reason: string | undefined };
  'service-answered': { status: number; reason: string | undefined };
  /** The same for a call that may be of any operation. */
  'call-answered': { status: number; reason: string | undefined };
  'error-with-status-200': { reason: string | undefined };
  /** A gateway, a firewall or a bot check answers in the place of the service. */
  'gateway-refuses': { status: number; reason: string | undefined };
  'too-many-redirects': { most: number };
  /** `origin` is undefined for what is no proper URL. */
  'redirects-elsewhere': { origin: string | undefined; profile: string | undefined };
  'redirect-not-followed': { location: string; status: number };
}>;

type AnswerProblem =
  | KindsOf<Record<'answer-too-slow' | 'answer-empty' | 'answer-cut-off' | 'position-read-before', unknown>>
  | KindsOf<{
      'broken-compression': { origin: string; why: string };
      'no-proper-http': { origin: string; why: string };
      'unknown-encoding': { name: string };
      /** It came whole all the same. */
      'answer-ends-early': unknown;
      'answer-too-long': { mostBytes: number };
      /** The service's `next` may be a page number or a number of records. */
      'next-number-unclear': { value: number };
      'answer-not-json': { type: string };
      'next-page-elsewhere': { there: string | undefined; origin: string };
      'position-elsewhere': { origin: string };
    }>;

/** The reason why a walk came to an end which proves nothing. */
export type UnprovenReason =
  | KindsOf<Record<'more-without-position' | 'more-without-parameter' | 'total-vanished', unknown>>
  | KindsOf<Record<'list-kept-moving', unknown>>
  | KindsOf<{
      /** A page brought leads that were known, and none that were not. */
      'nothing-new': unknown;
      /** A walk that went on where an earlier one had stopped got no lead: its position may not be known any more. */
      'nothing-behind-stop': unknown;
      'rejected-behind': { of: Problem };
      /** The service says that there is more: and sends no lead, names no position, or none that a usual parameter takes. */
      'more-without-leads': unknown;
      /** The first answer holds no list, not even an empty one. */
      'no-list': unknown;
      'empty-page': { page: number; pages: number };
      /** Against the setting `api.pagination none`. */
      'more-than-one-page': unknown;
      'total-beyond-one-page': { total: number; count: number };
      /** No position leads further, and the total is larger, or the page as long as one that may have been cut. */
      'total-out-of-reach': { total: number; met: number };
      'page-may-be-cut': { count: number };
      /** The run before had so many leads that are asked for again, and none of them came. */
      'run-before-not-met': { overlap: number };
      /** The list was read from its start, and so many leads of an interrupted run did not come again. */
      'attempt-not-met': { leads: number };
      'total-not-met': { total: number; met: number };
      /** Leads are asked for by time: an answer does not begin with those that the one before it ended with. */
      'window-apart': { param: string };
      /** All leads of a full answer have one time, or they are in another order. */
      'window-of-one-time': { param: string };
      /** An answer tells a failure, beside leads or in their place. */
      'failed-answer': { text: string };
      /** An answer says itself that it is not all. */
      'partial-answer': { sign: string };
      'range-does-not-fit': { range?: string | undefined; count: number };
      /** A sign of more leads on a page behind which no next one was found. */
      'unread-member': { name: string };
      'unread-header': { name: string };
      'redirect-drops': { param: string };
      'setting-without-effect': { setting: 'api.next' | 'api.pagination' };
      /** In a row. */
      'endless-empty-pages': { pages: number };
      /** Only some of the answers to these requests brought a new lead. */
      'too-many-requests': { requests: number; fruitful: number };
    }>;

/** An answer says itself that it is not all. */
export type PartialReason = Extract<
  UnprovenReason,
  { readonly kind: 'partial-answer' | 'range-does-not-fit' }
>;

/** A note about a list that has no further page. */
type EndNote = KindsOf<{
  /** `api.pagination none` says that it is everything. */
  'unread-beside-setting': { of: UnprovenReason };
}>;

type AnswerDetails = Omit<ErrorDetails, 'hint'>;

/** The service's answer is not what it must be. */
export const answerError = (problem: ServiceProblem, details?: AnswerDetails): DataError =>
  new DataError(problem, details);

/** The service could not be reached, or failed. */
export const serviceError = (problem: ServiceProblem, details?: AnswerDetails): ServiceError =>
  new ServiceError(problem, details);
