import type { KindsOf } from '../errors.ts';

/** Of what several requests were read, of which one must be chosen. */
export type SeveralRequests = 'har' | 'curl-output' | 'listen-output';

/** Why no request can be read from a capture. Numbers of lines and requests count from 1. */
export type CaptureProblem =
  | KindsOf<Record<'capture-empty' | 'capture-of-no-form' | 'capture-breaks-json', unknown>>
  | KindsOf<Record<'capture-of-other-json' | 'capture-of-curl-trace' | 'captured-url-too-long', unknown>>
  | KindsOf<Record<'curl-command-too-long' | 'curl-command-without-url' | 'curl-command-not-http', unknown>>
  | KindsOf<Record<'curl-not-a-command' | 'har-empty', unknown>>
  | KindsOf<{
      'captured-headers-too-many': { count: number };
      'captured-line-no-header': { line: number };
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
export type CaptureLack =
  | KindsOf<Record<'form-without-boundary' | 'body-in-variable' | 'body-from-stdin', unknown>>
  | KindsOf<Record<'curl-output-without-body' | 'event-without-body' | 'event-without-white-space', unknown>>
  | KindsOf<Record<'event-without-headers' | 'lines-end-in-lf' | 'body-not-chunked', unknown>>
  | KindsOf<{
      /** Undefined: what was read from stdin. */
      'body-without-line-breaks': { path: string | undefined };
      'event-of-several-leads': { leads: number };
      /** `stored`: the name of the file that holds it, if there is one. */
      'har-without-body': { stored: string | undefined };
      'har-body-not-utf8': unknown;
      'har-body-of-other-size': { said: number; held: number };
    }>;
