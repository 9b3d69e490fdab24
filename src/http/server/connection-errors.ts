import { ConfigError, type LeadsError, UsageError } from '../../errors.ts';
import { rejection, type Rejection } from '../../webhook/rejection.ts';
import type { Limits } from './limits.ts';

/** What node reports where it cannot read a request. */
export type ParserError = Error & { code?: string; reason?: string; rawPacket?: Buffer };

/** The answer to an error of the HTTP parser or a time-out; undefined when the client cannot be answered any more. */
export function rejectionFor(error: ParserError, limits: Limits): Rejection | undefined {
  const { code = '', reason, rawPacket } = error;
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return tooSlow(limits);
  if (code === 'HPE_HEADER_OVERFLOW') {
    return rejection('too_many_headers', `headers larger than ${limits.headerBytes} bytes`);
  }
  if (code === 'HPE_CHUNK_EXTENSIONS_OVERFLOW') {
    return rejection('too_large', 'chunk extensions are too large');
  }
  if (code === 'HPE_PAUSED') {
    return rejection('overloaded', 'the client sends more requests than it reads answers');
  }
  if (!code.startsWith('HPE_') || code === 'HPE_INVALID_EOF_STATE') return undefined;
  // Every TLS handshake starts with the byte 0x16.
  const detail = rawPacket?.[0] === 0x16 ? 'TLS on a plain HTTP port' : `not HTTP/1.1: ${reason ?? code}`;
  return rejection('malformed_request', detail);
}

export const tooSlow = (limits: Limits): Rejection =>
  rejection('too_slow', `the request was not complete within ${limits.requestMs / 1000} s`);

export const closedAfterHandshakeDetail =
  'the client went away at the TLS handshake: it may not trust this certificate';

/** One sentence for a TLS handshake that failed; undefined for a peer that only disconnected. */
export function handshakeDetail(code: string): string | undefined {
  if (code === 'ERR_SSL_HTTP_REQUEST') return 'plain HTTP on the HTTPS port';
  if (/ALERT_(UNKNOWN_CA|BAD_CERTIFICATE|CERTIFICATE_UNKNOWN|CERTIFICATE_EXPIRED)/.test(code)) {
    return 'the client does not trust this certificate';
  }
  if (/UNSUPPORTED_PROTOCOL|VERSION_TOO_LOW|UNKNOWN_PROTOCOL/.test(code))
    return 'the client speaks no TLS 1.2 or 1.3';
  if (/NO_APPLICATION_PROTOCOL/.test(code)) return 'the client speaks no HTTP/1.1';
  if (/^(ECONNRESET|EPIPE|ERR_TLS_HANDSHAKE_TIMEOUT|ERR_STREAM_DESTROYED)$/.test(code)) return undefined;
  return 'the TLS handshake failed';
}

/**
 * Why no socket could be opened, as an error that says what the user can change. `flag`: where one flag names both host and
 * port.
 */
export function listenError(
  error: NodeJS.ErrnoException,
  host: string,
  port: number,
  flag?: string,
): LeadsError {
  const address = `${host}:${port}`;
  const details = { cause: error };
  switch (error.code) {
    case 'EADDRINUSE':
      return new ConfigError(`${address} is in use by another program`, {
        ...details,
        hint: `give another ${flag ?? '--port'}, or ${flag ?? '--port'} 0 for any that is free`,
      });
    case 'EACCES':
      return new ConfigError(`no permission to listen on ${address}`, {
        ...details,
        hint: `ports below 1024 are the system’s: give another ${flag ?? '--port'}`,
      });
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
    case 'EINVAL':
    case 'EAFNOSUPPORT':
      return new UsageError(`${flag ?? '--host'}: '${host}' is not an address of this machine`, {
        ...details,
        hint: '127.0.0.1 is reached from this machine only, 0.0.0.0 from everywhere',
      });
    default:
      return new ConfigError(`cannot listen on ${address}: ${error.message}`, details);
  }
}
