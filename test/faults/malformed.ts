/** One request that is wrong in one way. */
export interface Malformed {
  readonly name: string;
  readonly bytes: string | Uint8Array;
  /** The statuses that may answer it; `closed` when the connection may end without a word. */
  readonly expected: readonly (number | 'closed')[];
}

const head = (...lines: string[]): string => ['POST / HTTP/1.1', ...lines, '', ''].join('\r\n');
const chunked = '8\r\n{"id":1}\r\n0\r\n\r\n';
const json = ['Host: localhost', 'Content-Type: application/json'];
const trusted = [...json, 'x-webhook-token: t'];

/** An authentic delivery of this body, in latin1 bytes. */
const delivery = (body: string | Uint8Array, headers: readonly string[] = trusted): Uint8Array => {
  const bytes = typeof body === 'string' ? Buffer.from(body, 'latin1') : body;
  return Buffer.concat([Buffer.from(head(...headers, `Content-Length: ${bytes.length}`), 'latin1'), bytes]);
};

const wire = (name: string, bytes: string, expected: Malformed['expected'] = [400]): Malformed => ({
  name,
  bytes,
  expected,
});
const lead = (name: string, body: string | Uint8Array, expected: Malformed['expected']): Malformed => ({
  name,
  bytes: delivery(body),
  expected,
});
const repeated = (part: string, times: number): string => part.repeat(times);

export const corpus: readonly Malformed[] = [
  // Smuggling: two readers of the same bytes must not see two different requests.
  wire('length and coding', head(...trusted, 'Content-Length: 8', 'Transfer-Encoding: chunked') + chunked),
  wire('coding and length', head(...trusted, 'Transfer-Encoding: chunked', 'Content-Length: 8') + chunked),
  wire('two lengths', head(...trusted, 'Content-Length: 8', 'Content-Length: 9') + '{"id":1} '),
  wire('a list of lengths', head(...trusted, 'Content-Length: 8, 8') + '{"id":1}'),
  wire('a negative length', head(...trusted, 'Content-Length: -1')),
  wire('a length beyond 64 bits', head(...trusted, 'Content-Length: 18446744073709551616')),
  wire('a length in another base', head(...trusted, 'Content-Length: 0x8') + '{"id":1}'),
  wire('chunked, then identity', head(...trusted, 'Transfer-Encoding: chunked, identity') + chunked),
  wire('two codings', head(...trusted, 'Transfer-Encoding: gzip', 'Transfer-Encoding: chunked') + chunked),
  wire('chunked in quotes', head(...trusted, 'Transfer-Encoding: "chunked"') + chunked),
  wire('a vertical tab before chunked', head(...trusted, 'Transfer-Encoding:\vchunked') + chunked),
  wire('a space before the colon', head(...trusted, 'Content-Length : 8') + '{"id":1}'),
  wire('a folded coding', head(...trusted, 'Transfer-Encoding:', ' chunked') + chunked, [400, 200, 'closed']),
  wire('bare line feeds', head(...trusted, 'Content-Length: 0').replaceAll('\r\n', '\n')),
  wire('a bare carriage return', head(...trusted, 'X-A: 1\rContent-Length: 8')),
  wire(
    'a huge chunk size',
    head(...trusted, 'Transfer-Encoding: chunked') + 'FFFFFFFFFFFFFFFFF\r\n',
    [400, 413],
  ),
  wire(
    'a chunk size just over the limit',
    head(...trusted, 'Transfer-Encoding: chunked') + `100001\r\n${repeated('x', 0x100001)}\r\n0\r\n\r\n`,
    [413],
  ),
  wire('a signed chunk size', head(...trusted, 'Transfer-Encoding: chunked') + '+8\r\n{"id":1}\r\n0\r\n\r\n'),
  wire(
    'an endless chunk extension',
    head(...trusted, 'Transfer-Encoding: chunked') + `8;${repeated('x', 20_000)}`,
    [413, 400, 431],
  ),
  wire(
    'trailers that repeat the credential',
    head(...json, 'Transfer-Encoding: chunked') + '8\r\n{"id":1}\r\n0\r\nx-webhook-token: t\r\n\r\n',
    [401],
  ),
  wire(
    'endless trailers',
    head(...trusted, 'Transfer-Encoding: chunked') + `0\r\n${repeated('X-A: 1\r\n', 10_000)}\r\n`,
    [400, 431],
  ),
  wire(
    'a second request behind a refused one',
    head(...trusted, 'Host: two', 'Content-Length: 0') + head(...trusted, 'Content-Length: 0'),
  ),
  // Heads.
  wire('two hosts', head(...trusted, 'Host: other', 'Content-Length: 0')),
  wire('no host', head('Content-Type: application/json', 'Content-Length: 0')),
  wire(
    '101 headers',
    head(...trusted, ...Array.from({ length: 98 }, (_, i) => `X-${i}: 1`), 'Content-Length: 0', 'X-Last: 1'),
    [431],
  ),
  wire('3,000 headers', head(...trusted, ...Array.from({ length: 3_000 }, () => 'a:')), [431]),
  wire('a header of 64 KiB', head(...trusted, `X-A: ${repeated('x', 65_536)}`), [431]),
  wire('a target of 64 KiB', `POST /${repeated('x', 65_536)} HTTP/1.1\r\nHost: x\r\n\r\n`, [431, 400, 414]),
  wire('an empty header name', head(...trusted, ': x')),
  wire('a header without a colon', head(...trusted, 'nonsense')),
  wire('a zero byte', head(...trusted, 'X-A: \0')),
  wire('HTTP/2 without asking', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
  wire('HTTP/0.9', 'GET /\r\n\r\n'),
  wire('HTTP/9.9', 'POST / HTTP/9.9\r\nHost: x\r\n\r\n'),
  wire('a lower-case method', 'post / HTTP/1.1\r\nHost: x\r\n\r\n'),
  wire('an unknown method', 'LEADS / HTTP/1.1\r\nHost: x\r\n\r\n'),
  wire('no target', 'POST HTTP/1.1\r\nHost: x\r\n\r\n', [400, 404]),
  wire('only line ends', repeated('\r\n', 10_000) + 'x'),
  wire('a tunnel', 'CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n', [405]),
  wire('the asterisk', 'OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n', [405]),
  wire(
    'an upgrade to h2c',
    head(
      ...trusted,
      'Connection: Upgrade, HTTP2-Settings',
      'Upgrade: h2c',
      'HTTP2-Settings: AAA',
      'Content-Length: 8',
    ) + '{"id":1}',
    [200],
  ),
  wire(
    'a path full of dots',
    'POST /../../etc/passwd%00 HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n',
    [401],
  ),
  wire('a target that is no URL', 'POST //[ HTTP/1.1\r\nHost: [\r\nContent-Length: 0\r\n\r\n', [400, 401]),
  // Credentials.
  {
    name: '__proto__ as a header',
    bytes: delivery('{"id":1}', [...trusted, '__proto__: t', 'constructor: x']),
    expected: [200],
  },
  {
    name: 'the credential twice',
    bytes: delivery('{"id":1}', [...trusted, 'X-Webhook-Token: t']),
    expected: [401],
  },
  {
    name: 'a credential of 10 KiB',
    bytes: delivery('{"id":1}', [...json, `x-webhook-token: ${repeated('t', 10_000)}`]),
    expected: [401],
  },
  {
    name: 'a credential of high bytes',
    bytes: delivery('{"id":1}', [...json, 'x-webhook-token: \xff\xfe']),
    expected: [401],
  },
  // Bodies.
  lead('nothing', '', [400]),
  lead('blanks', '  \n ', [400]),
  lead('nesting of 500,000 arrays', repeated('[', 500_000), [400]),
  lead(
    'nesting that closes',
    `{"id":"deep","a":${repeated('[', 200_000)}${repeated(']', 200_000)}}`,
    [200, 400],
  ),
  lead('the id twice', '{"id":"a","id":"b"}', [400]),
  lead(
    '__proto__ as a key',
    '{"id":"proto","__proto__":{"category":"x"},"constructor":{"prototype":{"a":1}}}',
    [200],
  ),
  lead('a lone surrogate', '{"id":"lone","contact":{"name":"\\ud800"}}', [200]),
  lead('a surrogate in UTF-8', Buffer.from('{"id":"cesu","a":"\xed\xa0\x80"}', 'latin1'), [400]),
  lead('the byte FF', Buffer.from('{"id":"ff","a":"\xff"}', 'latin1'), [400]),
  lead('UTF-16', Buffer.from('{"id":"wide"}', 'utf16le'), [400]),
  lead('a number of a million digits', `{"id":"big","n":${repeated('9', 1_000_000)}}`, [200]),
  lead('an id of half a megabyte', `{"id":"${repeated('x', 500_000)}"}`, [200, 400]),
  lead('control sequences', '{"id":"\\u001b]52;c;AAAA\\u0007","contact":{"name":"\\u202e\\u009b2J"}}', [200]),
];
