import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { AnswerParser } from '../../../src/http/client/answer-parser.ts';
import { ExchangeError } from '../../../src/http/errors.ts';

interface Read {
  readonly status: number;
  readonly body: string;
  readonly keepsAlive: boolean;
  readonly isDone: boolean;
}

/** Reads an answer in pieces of so many bytes, up to the end of the connection. */
function read(text: string, size = text.length): Read {
  const parser = new AnswerParser();
  const bytes = Buffer.from(text, 'latin1');
  for (let at = 0; at < bytes.length; at += size) parser.push(bytes.subarray(at, at + size));
  const { isDone } = parser;
  parser.end();
  return {
    status: parser.status,
    body: parser.body.toString('latin1'),
    keepsAlive: parser.keepsAlive,
    isDone,
  };
}

const answers: readonly (readonly [what: string, text: string, expected: Partial<Read>])[] = [
  [
    'a counted body',
    'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello',
    { body: 'hello', keepsAlive: true, isDone: true },
  ],
  ['no body', 'HTTP/1.1 204 No Content\r\n\r\n', { status: 204, body: '', keepsAlive: true, isDone: true }],
  ['a status without a reason', 'HTTP/1.1 200\r\ncontent-length:0\r\n\r\n', { status: 200, isDone: true }],
  [
    'chunks',
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\nT: 1\r\n\r\n',
    { body: 'abcde', keepsAlive: true, isDone: true },
  ],
  [
    'a body up to the end',
    'HTTP/1.1 200 OK\r\n\r\nall of it',
    { body: 'all of it', keepsAlive: false, isDone: false },
  ],
  [
    'a coding that is not chunked',
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nxx',
    { body: 'xx', keepsAlive: false },
  ],
  [
    'chunks beside a length, which does not count',
    'HTTP/1.1 200 OK\r\nContent-Length: 99\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n',
    { body: 'a', keepsAlive: false, isDone: true },
  ],
  [
    'one length twice',
    'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\na',
    { body: 'a', isDone: true },
  ],
  [
    'a server that closes',
    'HTTP/1.1 200 OK\r\nConnection: Close\r\nContent-Length: 1\r\n\r\na',
    { body: 'a', keepsAlive: false },
  ],
  ['HTTP/1.0', 'HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\na', { body: 'a', keepsAlive: false }],
  [
    'interim answers that nobody asked for',
    'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok',
    { status: 200, body: 'ok', keepsAlive: true },
  ],
  ['bare line feeds', 'HTTP/1.1 200 OK\nContent-Length: 2\n\nok', { status: 200, body: 'ok', isDone: true }],
  [
    'bare line feeds, and empty lines in the body',
    'HTTP/1.1 200 OK\nContent-Length: 10\n\nab\r\n\r\ncdef',
    { body: 'ab\r\n\r\ncdef', isDone: true },
  ],
  [
    'an empty line before it',
    '\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok',
    { status: 200, body: 'ok', keepsAlive: true, isDone: true },
  ],
  [
    'bytes behind the answer',
    'HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\naHTTP/1.1 200 OK\r\n\r\n',
    { body: 'a', keepsAlive: false, isDone: true },
  ],
];

describe.each(answers)('%s', (_, text, expected) => {
  test('is read, in one piece', () => expect(read(text)).toMatchObject(expected));

  test('is read, byte by byte', () => {
    // What comes after the end of an answer is no part of it: later pieces are not looked at.
    const { keepsAlive, ...rest } = read(text, 1);
    expect({ keepsAlive, ...rest }).toMatchObject(expected);
  });
});

test.each([
  ['no HTTP', 'SSH-2.0-OpenSSH_9.2\r\n\r\n', 'HPE_INVALID_CONSTANT'],
  ['a greeting of another protocol, which waits', '220 mail.example.com ESMTP\r\n', 'HPE_INVALID_CONSTANT'],
  ['the beginning of something else', 'HTX', 'HPE_INVALID_CONSTANT'],
  [
    'a space before the colon of a length',
    'HTTP/1.1 200 OK\r\nContent-Length : 2\r\n\r\nok',
    'HPE_INVALID_HEADER_TOKEN',
  ],
  [
    'a header on two lines',
    'HTTP/1.1 200 OK\r\nTransfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n',
    'HPE_INVALID_HEADER_TOKEN',
  ],
  ['a line that is no header', 'HTTP/1.1 200 OK\r\nwhat\r\n\r\n', 'HPE_INVALID_HEADER_TOKEN'],
  ['a NUL in a header', 'HTTP/1.1 200 OK\r\nX: a\0b\r\n\r\n', 'HPE_INVALID_HEADER_TOKEN'],
  [
    'a carriage return in a header',
    'HTTP/1.1 200 OK\r\nX: a\rContent-Length: 9\r\n\r\n',
    'HPE_INVALID_HEADER_TOKEN',
  ],
  [
    'a chunk that is longer than its size',
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nokmore\r\n0\r\n\r\n',
    'HPE_INVALID_CHUNK_SIZE',
  ],
  ['HTTP/2', 'HTTP/2 200\r\n\r\n', 'HPE_INVALID_CONSTANT'],
  ['a switch of protocols', 'HTTP/1.1 101 Switching\r\n\r\n', 'HPE_INVALID_CONSTANT'],
  ['a length that is no number', 'HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n', 'HPE_INVALID_CONSTANT'],
  [
    'two lengths',
    'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n',
    'HPE_INVALID_CONSTANT',
  ],
  ['endless headers', `HTTP/1.1 200 OK\r\n${'X-A: b\r\n'.repeat(5000)}`, 'HPE_HEADER_OVERFLOW'],
  ['one endless header', `HTTP/1.1 200 OK\r\nX: ${'b'.repeat(20_000)}`, 'HPE_HEADER_OVERFLOW'],
  [
    'a chunk without a size',
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n',
    'HPE_INVALID_CHUNK_SIZE',
  ],
  [
    'an endless chunk extension',
    `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;${'x'.repeat(2000)}`,
    'HPE_HEADER_OVERFLOW',
  ],
])('%s is an error', (_, text, code) => {
  const failure = (size: number): unknown => {
    try {
      read(text, size);
      return undefined;
    } catch (error) {
      return error instanceof ExchangeError ? error.code : error;
    }
  };
  expect([failure(text.length), failure(100)]).toEqual([code, code]);
});

test('of a long body 64 KiB are kept, and beyond 1 MiB nothing is awaited', () => {
  const parser = new AnswerParser();
  parser.push(Buffer.from('HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n'));
  const piece = Buffer.alloc(100_000, 'x');
  for (let i = 0; i < 10; i += 1) parser.push(piece);
  expect(parser.isDone).toBe(false);
  parser.push(piece);
  expect([parser.isDone, parser.keepsAlive, parser.body.length]).toEqual([true, false, 65_536]);
});

test('any pieces of any answer are read as the whole, and no bytes crash it', () => {
  const chunk = fc.string({ unit: 'binary-ascii', minLength: 1, maxLength: 40 });
  fc.assert(
    fc.property(fc.array(chunk, { maxLength: 5 }), fc.integer({ min: 1, max: 50 }), (chunks, size) => {
      const coded = chunks.map((text) => `${text.length.toString(16)}\r\n${text}\r\n`).join('');
      const text = `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${coded}0\r\n\r\n`;
      expect(read(text, size)).toEqual({
        status: 200,
        body: chunks.join(''),
        keepsAlive: true,
        isDone: true,
      });
    }),
  );
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), fc.boolean(), (bytes, hasHead) => {
      const head = hasHead ? 'HTTP/1.1 200 OK\r\n' : '';
      try {
        new AnswerParser().push(Buffer.concat([Buffer.from(head), bytes]));
      } catch (error) {
        expect(error).toBeInstanceOf(ExchangeError);
      }
    }),
  );
});
