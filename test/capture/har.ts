interface HarHeader {
  readonly name: string;
  readonly value: string;
}

const response = {
  status: 200,
  statusText: '',
  httpVersion: 'http/2.0',
  headers: [{ name: 'content-type', value: 'application/json' }],
  cookies: [],
  content: { size: 24, mimeType: 'application/json', text: '{"status":"accepted"}' },
  redirectURL: '',
  headersSize: -1,
  bodySize: -1,
  _transferSize: 90,
  _error: null,
};

/** An entry with the fields that the network panel of Chromium saves. */
export const chromiumEntry = (
  url: string,
  headers: readonly HarHeader[],
  text?: string,
  startedDateTime = '2026-01-15T12:00:01.000Z',
): Record<string, unknown> => ({
  _connectionId: '4711',
  _initiator: { type: 'script', stack: { callFrames: [] } },
  _priority: 'High',
  _resourceType: 'fetch',
  cache: {},
  connection: '443',
  pageref: 'page_1',
  request: {
    method: text === undefined ? 'GET' : 'POST',
    url,
    httpVersion: 'http/2.0',
    headers: [
      { name: ':authority', value: new URL(url).host },
      { name: ':method', value: text === undefined ? 'GET' : 'POST' },
      { name: ':path', value: new URL(url).pathname },
      { name: ':scheme', value: 'https' },
      ...headers,
    ],
    queryString: [],
    cookies: [],
    headersSize: -1,
    bodySize: Buffer.byteLength(text ?? ''),
    ...(text === undefined ? {} : { postData: { mimeType: 'application/json', text } }),
  },
  response,
  serverIPAddress: '203.0.113.7',
  startedDateTime,
  time: 12.3,
  timings: {
    blocked: 1,
    dns: -1,
    ssl: -1,
    connect: -1,
    send: 0.1,
    wait: 10,
    receive: 1,
    _blocked_queueing: 0.5,
  },
});

export const har = (entries: readonly unknown[]): string =>
  JSON.stringify(
    {
      log: {
        version: '1.2',
        creator: { name: 'WebInspector', version: '537.36' },
        pages: [{ startedDateTime: '2026-01-15T12:00:00.000Z', id: 'page_1', title: 'x', pageTimings: {} }],
        entries,
      },
    },
    null,
    2,
  );

/** An entry as playwright-core's `recordHar` writes it: no pseudo-headers, and perhaps the body in a file of its own. */
export const playwrightEntry = (
  url: string,
  headers: readonly HarHeader[],
  postData: Readonly<Record<string, unknown>>,
  bodySize: number,
): Record<string, unknown> => ({
  startedDateTime: '2026-01-15T12:00:01.000Z',
  time: 3.2,
  request: {
    method: 'POST',
    url,
    httpVersion: 'HTTP/1.1',
    cookies: [],
    headers,
    queryString: [],
    headersSize: 200,
    bodySize,
    postData: { params: [], ...postData },
  },
  response: { ...response, httpVersion: 'HTTP/1.1' },
  cache: {},
  timings: { dns: 0.1, connect: 0.2, ssl: 0.3, send: 0, wait: 2, receive: 1 },
  pageref: 'page@1',
  serverIPAddress: '127.0.0.1',
  _serverPort: 8443,
  _securityDetails: { protocol: 'TLS 1.3' },
});
