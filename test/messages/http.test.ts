import { expect, test } from 'vitest';
import { type HandshakeProblem, invalidProxy, listenError } from '../../src/http/problems.ts';
import { application } from '../../src/front.ts';
import { hintOf, messageFor, sentenceOf } from '../../src/messages/find-message.ts';
import { describe } from '../../src/messages/command-line.ts';

const failed = (code: string, option?: string): unknown =>
  listenError(Object.assign(new Error('the reason'), { code }), '192.0.2.1', 80, option);

const addresses = '127.0.0.1 is reached from this machine only, 0.0.0.0 from everywhere';

test.each([
  [
    'EADDRINUSE',
    undefined,
    '192.0.2.1:80 is in use by another program',
    'give another --port, or --port 0 for any that is free',
  ],
  [
    'EACCES',
    'admin',
    'no permission to listen on 192.0.2.1:80',
    'ports below 1024 are the system’s: give another --admin',
  ],
  ['EADDRNOTAVAIL', undefined, "--host: '192.0.2.1' is not an address of this machine", addresses],
  ['ENOTFOUND', 'admin', "--admin: '192.0.2.1' is not an address of this machine", addresses],
  ['EMFILE', undefined, 'cannot listen on 192.0.2.1:80: the reason', undefined],
])('%s of a socket, with the option %s', (code, option, message, hint) => {
  expect(describe(failed(code, option))).toEqual({ message, hint });
});

test('an application reads the names of its options', () => {
  const error = failed('EADDRINUSE');
  expect(hintOf(error, application)).toBe('give another port, or port: 0 for any that is free');
  expect(sentenceOf(failed('EINVAL'), application)).toMatch(/^host: '192/);
  expect(sentenceOf(failed('EINVAL'))).toMatch(/^'192/);
});

test('a proxy names the variable that it came from', () => {
  const message = 'HTTPS_PROXY is not the URL of an http:// or https:// proxy';
  expect(describe(invalidProxy('HTTPS_PROXY'))).toEqual({ message, hint: undefined });
});

test.each<[HandshakeProblem['kind'], string]>([
  ['client-speaks-no-tls', 'plain HTTP on the HTTPS port'],
  ['client-distrusts-certificate', 'the client does not trust this certificate'],
  ['client-left-handshake', 'the client went away at the TLS handshake: it may not trust this certificate'],
  ['client-speaks-old-tls', 'the client speaks no TLS 1.2 or 1.3'],
  ['client-speaks-no-http1', 'the client speaks no HTTP/1.1'],
])('a handshake: %s', (kind, sentence) => {
  expect(messageFor({ kind })?.message).toBe(sentence);
});
