import type { Dispatcher } from 'undici';

export interface HttpRequest {
  readonly origin: string;
  readonly path: string;
  readonly method: Dispatcher.HttpMethod;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * An answer of any status. `headers` have names in lower case, and the first value of a header that is sent more than once, but
 * all of `Link`. The `body` is still to be received: it has to be read, and throws where it breaks off; or `discard` drops the rest
 * of it, so that its connection can be used again.
 */
export interface HttpAnswer {
  readonly status: number;
  readonly statusText: string;
  readonly rawHeaders: readonly (readonly [name: string, value: string])[];
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: AsyncIterable<Uint8Array>;
  readonly discard: () => Promise<void>;
}

export interface HttpClient {
  /** Rejects with the system's error, or with one that has a code of node or undici. */
  request(request: HttpRequest): Promise<HttpAnswer>;
  destroy(): Promise<void>;
}

export interface HttpClientOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The directory of our own local authority, if there is one; undefined: it is not looked for. */
  readonly dataDir: string | undefined;
  readonly timeoutMs: number;
  /** Only the command line gives it: an application that uses the library keeps its flags. */
  readonly setV8Flag?: ((flag: string) => void) | undefined;
}

/** The headers of an answer, from the list of names and values in turn that node and undici give. */
export function answerHeaders(flat: readonly string[]): Pick<HttpAnswer, 'rawHeaders' | 'headers'> {
  const rawHeaders: (readonly [string, string])[] = [];
  const headers: Record<string, string | undefined> = {};
  for (let i = 0; i < flat.length; i += 2) {
    const [rawName = '', value = ''] = flat.slice(i, i + 2);
    rawHeaders.push([rawName, value]);
    const name = rawName.toLowerCase();
    const before = Object.hasOwn(headers, name) ? headers[name] : undefined;
    if (before === undefined) headers[name] = value;
    // `Link` values are one list (RFC 9110, section 5.3).
    else if (name === 'link') headers[name] = `${before}, ${value}`;
  }
  return { rawHeaders, headers };
}

/**
 * Options of every connection by a name: how long node tries each address of a host but the last one, in milliseconds. With its
 * default of 250 ms, an address that is far away is given up before it answers (nodejs/node#54359). This is longer than a connection
 * by satellite takes, and leaves time for the next address where a time limit is a second.
 */
export const addressAttempts = { autoSelectFamilyAttemptTimeout: 750 };
