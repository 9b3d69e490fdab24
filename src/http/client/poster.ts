import type { TlsTrust } from './trust.ts';

/** One request to send: order, case and repetition of headers, and every byte of the body, are sent as they are here. */
export interface PostRequest {
  readonly url: string;
  /** `Host` and `Content-Length` are added where they are missing. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Uint8Array;
}

/** That nobody answers is an outcome, not an error of ours. */
export type PostResult =
  | {
      readonly ok: true;
      readonly status: number;
      readonly headers: readonly (readonly [name: string, value: string])[];
      /** The first 64 KiB of the answer's body. */
      readonly body: Buffer;
      readonly durationMs: number;
    }
  | {
      readonly ok: false;
      /** `timeout`, `aborted`, or the system's, TLS's or the HTTP parser's own code such as `ECONNREFUSED`. */
      readonly code: string;
      readonly detail: string;
      readonly durationMs: number;
    };

export interface PostOptions {
  /** From connecting to the end of the answer. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

export interface PosterOptions {
  /** Connections kept open per origin, and so the most requests at one time. */
  readonly connections: number;
  /** Our own authority as PEM: trusted for loopback addresses only, beside the usual ones. */
  readonly loopbackCa?: string | undefined;
  /** For every host. */
  readonly trust?: TlsTrust | undefined;
  /** An http:// or https:// proxy for every request; default: none. */
  readonly proxy?: URL | undefined;
  readonly now: () => number;
}

/** Sends POST requests over connections that it keeps open. Follows no redirect. */
export interface Poster {
  /** Never rejects. */
  post(request: PostRequest, options: PostOptions): Promise<PostResult>;
  close(): void;
}
