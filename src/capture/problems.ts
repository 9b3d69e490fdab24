import type { KindsOf } from '../errors.ts';

/** Of what several requests were read, of which one must be chosen. */
export type SeveralRequests = 'har' | 'curl-output' | 'listen-output';

/** Why no request can be read from a capture. Numbers of lines and requests count from 1. */
export type CaptureProblem = KindsOf<{
  'capture-empty': unknown;
  'capture-of-no-form': unknown;
  'capture-breaks-json': unknown;
  'capture-of-other-json': unknown;
  'capture-of-curl-trace': unknown;
  'captured-headers-too-many': { count: number };
  'captured-url-too-long': unknown;
  'captured-line-no-header': { line: number };
  'curl-command-too-long': unknown;
  'curl-command-without-url': unknown;
  'curl-command-not-http': unknown;
  'curl-not-a-command': unknown;
  'har-empty': unknown;
  'har-entry-without-request': { entry: number };
  'no-such-request': { entry: number; of: SeveralRequests; count: number };
  /** `first`: some of those that may be meant; `place` without the query, which may hold a credential. */
  'several-requests': {
    of: SeveralRequests;
    first: readonly { readonly entry: number; readonly place: string }[];
    hasMore: boolean;
  };
}>;

/** What a capture was read from. Entries count from 1. */
export type CaptureForm = KindsOf<{
  'read-har': { entry: number; of: number };
  'read-curl-command': unknown;
  'read-curl-output': { withCommand: boolean };
  'read-raw-http': unknown;
  'read-listen-event': unknown;
}>;

/** What a capture does not hold exactly. */
export type CaptureLack = KindsOf<{
  'form-without-boundary': unknown;
  'body-in-variable': unknown;
  'body-from-stdin': unknown;
  /** Undefined: what was read from stdin. */
  'body-without-line-breaks': { path: string | undefined };
  'curl-output-without-body': unknown;
  'event-of-several-leads': { leads: number };
  'event-without-body': unknown;
  'event-without-white-space': unknown;
  'event-without-headers': unknown;
  /** `stored`: the name of the file that holds it, if there is one. */
  'har-without-body': { stored: string | undefined };
  'har-body-not-utf8': unknown;
  'har-body-of-other-size': { said: number; held: number };
  'lines-end-in-lf': unknown;
  'body-not-chunked': unknown;
}>;
