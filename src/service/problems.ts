import { DataError, type Problem, ServiceError } from '../errors.ts';

/** What the service says of an error itself (specification, section 7), without the API key. */
export interface ErrorWords {
  readonly error: string | undefined;
  readonly message: string | undefined;
}

export type ServiceProblem =
  | ConnectionProblem
  | RejectionProblem
  | AnswerProblem
  | UnprovenReason
  | EndNote
  /** Leads come whose status is another one than was asked for. */
  | {
      readonly kind: 'other-status';
      readonly field: string;
      readonly status: string;
      readonly wanted: string;
    }
  /** After so many attempts; `of` is the failure of the last one. */
  | { readonly kind: 'gave-up'; readonly of: Problem; readonly tries: number }
  /** The service asked to wait for longer than a run may take; ms, and when that is over, since the epoch. */
  | {
      readonly kind: 'asked-to-come-back';
      readonly of: Problem;
      readonly waitMs: number;
      readonly at: number;
    }
  /** `since`: leads that were created then or later surely came. */
  | {
      readonly kind: 'incomplete';
      readonly what: 'leads' | 'pages';
      readonly reason: UnprovenReason;
      readonly since: string | undefined;
    }
  /** Of a setting: neither `auto` nor a JSON Pointer. */
  | {
      readonly kind: 'no-pointer';
      readonly setting: string;
      readonly text: string;
      readonly example: string;
    };

/** `code` is that of node or undici; `why` are the words of a library. */
type ConnectionProblem =
  | {
      readonly kind: 'unreachable';
      readonly origin: string;
      readonly code: string;
      readonly mayBeTls: boolean;
    }
  | { readonly kind: 'no-such-host'; readonly origin: string }
  | { readonly kind: 'answers-in-plain-http'; readonly origin: string; readonly isLoopback: boolean }
  | { readonly kind: 'unsafe-connection'; readonly origin: string; readonly why: string }
  | { readonly kind: 'connection-failed'; readonly origin: string; readonly why: string }
  | { readonly kind: 'proxy-refuses'; readonly origin: string; readonly status: string }
  | {
      readonly kind: 'proxy-unreachable';
      readonly proxy: string;
      readonly code: string;
      readonly why: string;
    };

type RejectionProblem =
  | {
      readonly kind: 'key-refused';
      readonly status: number;
      readonly words: ErrorWords;
      readonly profile: string | undefined;
      /** The key is what `api-key-command` printed. */
      readonly keyIsFromCommand: boolean;
    }
  | { readonly kind: 'rate-limited'; readonly status: number; readonly words: ErrorWords }
  | { readonly kind: 'service-answered'; readonly status: number; readonly words: ErrorWords }
  /** The same for a call that may be of any operation. */
  | { readonly kind: 'call-answered'; readonly status: number; readonly words: ErrorWords }
  | { readonly kind: 'error-with-status-200'; readonly words: ErrorWords }
  | { readonly kind: 'too-many-redirects'; readonly most: number }
  /** `origin` is undefined for what is no proper URL. */
  | {
      readonly kind: 'redirects-elsewhere';
      readonly origin: string | undefined;
      readonly profile: string | undefined;
    }
  | { readonly kind: 'redirect-not-followed'; readonly location: string; readonly status: number };

type AnswerProblem =
  | { readonly kind: 'broken-compression'; readonly origin: string; readonly why: string }
  | { readonly kind: 'no-proper-http'; readonly origin: string; readonly why: string }
  | { readonly kind: 'unknown-encoding'; readonly name: string }
  | { readonly kind: 'answer-too-slow' }
  | { readonly kind: 'answer-empty' }
  | { readonly kind: 'answer-cut-off' }
  /** It came whole all the same. */
  | { readonly kind: 'answer-ends-early' }
  | { readonly kind: 'answer-not-json'; readonly type: string }
  | { readonly kind: 'next-page-elsewhere'; readonly there: string | undefined; readonly origin: string }
  | { readonly kind: 'position-elsewhere'; readonly origin: string }
  | { readonly kind: 'position-read-before' };

/** What was seen of a walk that came to an end which proves nothing. */
export type UnprovenReason =
  /** A page brought leads that were known, and none that were not. */
  | { readonly kind: 'nothing-new' }
  | { readonly kind: 'rejected-behind'; readonly of: Problem }
  /** The service says that there is more: and sends no lead, names no position, or none that a usual parameter takes. */
  | { readonly kind: 'more-without-leads' }
  /** The first answer holds no list, not even an empty one. */
  | { readonly kind: 'no-list' }
  | { readonly kind: 'more-without-position' }
  | { readonly kind: 'more-without-parameter' }
  | { readonly kind: 'empty-page'; readonly page: number; readonly pages: number }
  /** Against the setting `api.pagination none`. */
  | { readonly kind: 'more-than-one-page' }
  | { readonly kind: 'total-beyond-one-page'; readonly total: number; readonly count: number }
  /** No position leads further, and the total is larger, or the page as long as one that may have been cut. */
  | { readonly kind: 'total-out-of-reach'; readonly total: number; readonly met: number }
  | { readonly kind: 'page-may-be-cut'; readonly count: number }
  /** It lacks a lead that a request for a part of it brought. */
  | { readonly kind: 'page-is-cut'; readonly count: number; readonly by: string }
  /** The run before had so many leads that are asked for again, and none of them came. */
  | { readonly kind: 'run-before-not-met'; readonly overlap: number }
  | { readonly kind: 'total-not-met'; readonly total: number; readonly met: number }
  | { readonly kind: 'total-vanished' }
  /** Leads are asked for by time: an answer does not begin with those that the one before it ended with. */
  | { readonly kind: 'window-apart'; readonly param: string }
  /** All leads of a full answer have one time, or they are in another order. */
  | { readonly kind: 'window-of-one-time'; readonly param: string }
  /** No lead comes where this parameter is sent, not even the first ones. */
  | { readonly kind: 'position-filters'; readonly param: string }
  | { readonly kind: 'list-kept-moving' }
  /** An answer says itself that it is not all. */
  | { readonly kind: 'partial-answer'; readonly sign: string }
  | { readonly kind: 'range-does-not-fit'; readonly range: string | undefined; readonly count: number }
  /** Of one page, behind which no next page was found: what speaks of more leads, or may. */
  | { readonly kind: 'unread-member'; readonly name: string }
  | { readonly kind: 'unread-header'; readonly name: string }
  | { readonly kind: 'redirect-drops'; readonly param: string }
  | { readonly kind: 'setting-without-effect'; readonly setting: 'api.next' | 'api.pagination' }
  /** So many, and only some of the answers brought a new lead. */
  /** In a row. */
  | { readonly kind: 'endless-empty-pages'; readonly pages: number }
  | { readonly kind: 'too-many-requests'; readonly requests: number; readonly fruitful: number };

/** Of a list that has no further page. */
export type EndNote =
  /** Nothing proves that it is everything. */
  | { readonly kind: 'lone-page'; readonly count: number }
  /** `api.pagination none` says that it is everything. */
  | { readonly kind: 'unread-beside-setting'; readonly of: UnprovenReason }
  | { readonly kind: 'total-may-ignore-filter'; readonly total: number; readonly met: number };

interface AnswerDetails {
  readonly status?: number | undefined;
  readonly requestId?: string | undefined;
  readonly cause?: unknown;
}

/** The service's answer is not what it must be. */
export const answerError = (problem: ServiceProblem, details?: AnswerDetails): DataError =>
  new DataError(problem, details);

/** The service could not be reached, or failed. */
export const serviceError = (problem: ServiceProblem, details?: AnswerDetails): ServiceError =>
  new ServiceError(problem, details);
