import type { HttpProblem, RequestRejection } from '../http/problems.ts';
import type { Rejection } from '../webhook/delivery-answer.ts';
import { messageIn, type Messages } from './message.ts';

export const httpMessages: Messages<HttpProblem> = {
  'address-in-use': ({ host, port, option = 'port' }) => ({
    message: `${host}:${port} is in use by another program`,
    hint: (words) =>
      `give another ${words.option(option)}, or ${words.option(option, '0')} for any that is free`,
  }),
  'address-forbidden': ({ host, port, option = 'port' }) => ({
    message: `no permission to listen on ${host}:${port}`,
    hint: (words) => `ports below 1024 are the system’s: give another ${words.option(option)}`,
  }),
  'address-elsewhere': ({ host, option = 'host' }) => ({
    option,
    message: `'${host}' is not an address of this machine`,
    hint: () => '127.0.0.1 is reached from this machine only, 0.0.0.0 from everywhere',
  }),
  'cannot-listen': ({ host, port, reason }) => `cannot listen on ${host}:${port}: ${reason}`,
  'invalid-proxy': ({ variable }) => `${variable} is not the URL of an http:// or https:// proxy`,
  'answer-no-http': () => 'its answer is not HTTP',
  'answer-headers-too-large': () => 'its headers are too long',
  'answer-header-malformed': () => 'a line among its headers is no header',
  'answer-length-malformed': () => 'its Content-Length is no number',
  'answer-line-too-long': () => 'a line of it is too long',
  'answer-chunk-too-long': () => 'a chunk of it is longer than its size',
  'answer-chunk-without-size': () => 'a chunk of it has no size',
  'tunnel-too-slow': () => 'the proxy opened no tunnel in time',
  'tunnel-refused': ({ status }) => `the proxy answered ${status} to CONNECT`,
  'header-unsendable': ({ name }) => `the header ${JSON.stringify(name)} holds what no header may hold`,
  'headers-too-many': ({ most }) => `more than ${most} headers`,
  'headers-too-large': ({ most }) => `headers larger than ${most} bytes`,
  'host-repeated': () => 'two Host headers',
  'host-missing': () => 'no Host header',
  'content-length-repeated': () => 'two Content-Length headers',
  'transfer-coding-unknown': () => 'a transfer coding other than chunked',
  'length-and-transfer-coding': () => 'both Content-Length and Transfer-Encoding',
  'body-too-large': ({ most }) => `the body is larger than ${most} bytes`,
  'bodies-too-large-together': () => 'all bodies that are being received take too much memory together',
  'body-cut-off': ({ received, length }) =>
    `the connection ended after ${received}${length === undefined ? '' : ` of ${length}`} bytes of the body`,
  'chunk-extensions-too-large': () => 'chunk extensions are too large',
  'answers-not-read': () => 'the client sends more requests than it reads answers',
  'tls-on-plain-port': () => 'TLS on a plain HTTP port',
  'not-http': ({ why }) => `not HTTP/1.1: ${why}`,
  'request-too-slow': ({ seconds }) => `the request was not complete within ${seconds} s`,
  'expectation-unknown': () => 'an expectation other than 100-continue',
  'method-connect': () => 'the method CONNECT is not for a receiver',
  'client-speaks-no-tls': () => 'plain HTTP on the HTTPS port',
  'client-distrusts-certificate': () => 'the client does not trust this certificate',
  'client-left-handshake': () =>
    'the client went away at the TLS handshake: it may not trust this certificate',
  'client-speaks-old-tls': () => 'the client speaks no TLS 1.2 or 1.3',
  'client-speaks-no-http1': () => 'the client speaks no HTTP/1.1',
  'handshake-failed': () => 'the TLS handshake failed',
  'connection-not-accepted': () => 'a connection could not be accepted',
};

/** What is a sentence already stays as it is. */
export const httpSentence = (found: HttpProblem | string): string =>
  typeof found === 'string' ? found : (messageIn(httpMessages, found)?.message ?? found.kind);

/** The same with a sentence as its detail. */
export const inWords = (rejected: RequestRejection): Rejection => ({
  ...rejected,
  detail: httpSentence(rejected.detail),
});
