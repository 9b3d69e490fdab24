/** Of what several requests were read, of which one must be chosen. */
export type SeveralRequests = 'har' | 'curl-output' | 'listen-output';

/** Why no request can be read from a capture. Numbers of lines and requests count from 1. */
export type CaptureProblem =
  | { readonly kind: 'capture-empty' }
  | { readonly kind: 'capture-of-no-form' }
  | { readonly kind: 'capture-breaks-json' }
  | { readonly kind: 'capture-of-other-json' }
  | { readonly kind: 'capture-of-curl-trace' }
  | { readonly kind: 'captured-headers-too-many'; readonly count: number }
  | { readonly kind: 'captured-url-too-long' }
  | { readonly kind: 'captured-line-no-header'; readonly line: number }
  | { readonly kind: 'curl-command-too-long' }
  | { readonly kind: 'curl-command-without-url' }
  | { readonly kind: 'curl-command-not-http' }
  | { readonly kind: 'curl-not-a-command' }
  | { readonly kind: 'har-empty' }
  | { readonly kind: 'har-entry-without-request'; readonly entry: number }
  | {
      readonly kind: 'no-such-request';
      readonly entry: number;
      readonly of: SeveralRequests;
      readonly count: number;
    }
  /** `first`: some of those that may be meant; `place` without the query, which may hold a credential. */
  | {
      readonly kind: 'several-requests';
      readonly of: SeveralRequests;
      readonly first: readonly { readonly entry: number; readonly place: string }[];
      readonly hasMore: boolean;
    };

/** What a capture was read from. Entries count from 1. */
export type CaptureForm =
  | { readonly kind: 'read-har'; readonly entry: number; readonly of: number }
  | { readonly kind: 'read-curl-command' }
  | { readonly kind: 'read-curl-output'; readonly withCommand: boolean }
  | { readonly kind: 'read-raw-http' }
  | { readonly kind: 'read-listen-event' };

/** What a capture does not hold exactly. */
export type CaptureLack =
  | { readonly kind: 'form-without-boundary' }
  | { readonly kind: 'body-in-variable' }
  | { readonly kind: 'body-from-stdin' }
  /** Undefined: what was read from stdin. */
  | { readonly kind: 'body-without-line-breaks'; readonly path: string | undefined }
  | { readonly kind: 'curl-output-without-body' }
  | { readonly kind: 'event-of-several-leads'; readonly leads: number }
  | { readonly kind: 'event-without-body' }
  | { readonly kind: 'event-without-white-space' }
  | { readonly kind: 'event-without-headers' }
  /** `stored`: the name of the file that holds it, if there is one. */
  | { readonly kind: 'har-without-body'; readonly stored: string | undefined }
  | { readonly kind: 'har-body-not-utf8' }
  | { readonly kind: 'har-body-of-other-size'; readonly said: number; readonly held: number }
  | { readonly kind: 'lines-end-in-lf' }
  | { readonly kind: 'body-not-chunked' };
