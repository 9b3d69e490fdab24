import * as fc from 'fast-check';

/** Bytes as a latin1 string. */
const raw = (max: number): fc.Arbitrary<string> =>
  fc.uint8Array({ maxLength: max }).map((bytes) => Buffer.from(bytes).toString('latin1'));

const method = fc.oneof(
  { weight: 8, arbitrary: fc.constant('POST') },
  fc.constantFrom('GET', 'HEAD', 'PUT', 'OPTIONS', 'CONNECT', 'TRACE', 'PRI', 'post', 'QUERY', ''),
  raw(6),
);
const target = fc.oneof(
  fc.constantFrom('/', '/?a=b', '*', '//', '/%', 'http://x/', 'x:1', '', '/\xff', '/a b'),
  fc.webPath(),
  raw(30).map((text) => `/${text}`),
);
const version = fc.oneof(
  { weight: 12, arbitrary: fc.constant('HTTP/1.1') },
  fc.constantFrom('HTTP/1.0', 'HTTP/2.0', 'HTTP/0.9', 'http/1.1', 'HTTP/1.', ''),
);
const knownHeader = fc.constantFrom(
  'Host: x',
  'Host: y',
  'x-webhook-token: t',
  'x-webhook-token: wrong',
  'Content-Type: application/json',
  'Content-Type: application/json; charset=utf-16',
  'Content-Type: text/plain',
  'Content-Type: application/json; charset="',
  'Content-Encoding: gzip',
  'Transfer-Encoding: chunked',
  'Transfer-Encoding: identity',
  'Content-Length: 5',
  'Content-Length: 99999999999',
  'Expect: 100-continue',
  'Expect: x',
  'Connection: close',
  'Connection: keep-alive, Upgrade',
  'Upgrade: websocket',
  'Trailer: x-webhook-token',
  '__proto__: 1',
  'Cookie: a=b',
);
const header = fc.oneof(
  { weight: 4, arbitrary: knownHeader },
  fc.tuple(raw(8), raw(20)).map(([name, value]) => `${name}: ${value}`),
  raw(40),
);

const text = fc.string({ unit: 'binary', maxLength: 20 });
const id = fc.oneof(text, fc.integer(), fc.double(), fc.constantFrom('l-1', null, true, '__proto__'));
/** JSON that is a lead, nearly one, or none. */
const json = fc.oneof(
  fc
    .record({ id, category: text, contact: fc.dictionary(text, fc.jsonValue()) })
    .map((value) => JSON.stringify(value)),
  fc
    .record({ id: text, metadata: fc.jsonValue() }, { requiredKeys: [] })
    .map((value) => JSON.stringify(value)),
  fc.json(),
);
/** The bytes of a body, some of them changed. */
const body = fc.oneof(
  json.map((value) => Buffer.from(value).toString('latin1')),
  fc.tuple(json, fc.nat(), raw(4)).map(([value, at, noise]) => {
    const bytes = Buffer.from(value).toString('latin1');
    const cut = at % (bytes.length + 1);
    return bytes.slice(0, cut) + noise + bytes.slice(cut + noise.length);
  }),
  raw(200),
);

type Framing = (body: string) => { readonly header: string; readonly bytes: string };
const chunks: Framing = (bytes) => ({
  header: 'Transfer-Encoding: chunked',
  bytes: `${bytes.length === 0 ? '' : `${bytes.length.toString(16)}\r\n${bytes}\r\n`}0\r\n\r\n`,
});
const framing = fc.oneof<fc.Arbitrary<Framing>[]>(
  fc.constant((bytes) => ({ header: `Content-Length: ${bytes.length}`, bytes })),
  fc.constant(chunks),
  fc
    .integer({ min: -3, max: 3 })
    .map((off) => (bytes) => ({ header: `Content-Length: ${bytes.length + off}`, bytes })),
  raw(4).map((noise) => (bytes) => ({
    header: 'Transfer-Encoding: chunked',
    bytes: noise + chunks(bytes).bytes,
  })),
);

const usual = ['Host: x', 'x-webhook-token: t', 'Content-Type: application/json'];
const lines = fc.oneof(
  { weight: 2, arbitrary: fc.constant(usual) },
  fc.array(header, { maxLength: 3 }).map((more) => [...usual, ...more]),
  fc.array(header, { maxLength: 8 }),
  fc.array(header, { minLength: 95, maxLength: 120 }),
);

/** One request that gets as far as it may: into the parser, the checks, the JSON reader, or the inbox. */
const request = fc.record({ method, target, version, lines, body, framing }).map((one) => {
  const framed = one.framing(one.body);
  return [`${one.method} ${one.target} ${one.version}`, ...one.lines, framed.header, '', framed.bytes].join(
    '\r\n',
  );
});

/** A delivery that authenticates and is framed well, so that its body is what is tried. */
const authentic = body.map((bytes) =>
  ['POST / HTTP/1.1', ...usual, `Content-Length: ${bytes.length}`, '', bytes].join('\r\n'),
);

/** Latin1 bytes of one or more requests, whole, changed, cut, or none at all. */
export const anyRequest: fc.Arbitrary<string> = fc.oneof(
  { weight: 4, arbitrary: authentic },
  { weight: 4, arbitrary: request },
  fc.tuple(request, fc.nat()).map(([bytes, at]) => bytes.slice(0, at % (bytes.length + 1))),
  fc.array(request, { minLength: 2, maxLength: 4 }).map((all) => all.join('')),
  fc.tuple(request, fc.nat(), raw(3)).map(([bytes, at, noise]) => {
    const cut = at % (bytes.length + 1);
    return bytes.slice(0, cut) + noise + bytes.slice(cut);
  }),
  raw(300),
);
