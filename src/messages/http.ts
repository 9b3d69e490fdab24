import type { HttpProblem } from '../http/problems.ts';
import type { Messages } from './message.ts';

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
  'cannot-listen': ({ host, port, reason }) => ({ message: `cannot listen on ${host}:${port}: ${reason}` }),
  'invalid-proxy': ({ variable }) => ({
    message: `${variable} is not the URL of an http:// or https:// proxy`,
  }),
  'client-speaks-no-tls': () => ({ message: 'plain HTTP on the HTTPS port' }),
  'client-distrusts-certificate': () => ({ message: 'the client does not trust this certificate' }),
  'client-left-handshake': () => ({
    message: 'the client went away at the TLS handshake: it may not trust this certificate',
  }),
  'client-speaks-old-tls': () => ({ message: 'the client speaks no TLS 1.2 or 1.3' }),
  'client-speaks-no-http1': () => ({ message: 'the client speaks no HTTP/1.1' }),
  'handshake-failed': () => ({ message: 'the TLS handshake failed' }),
  'connection-not-accepted': () => ({ message: 'a connection could not be accepted' }),
};
