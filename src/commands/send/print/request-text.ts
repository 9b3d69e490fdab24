import { curlCommand, type CurlRequest, withVariables } from '../../../output/curl-command.ts';
import { sanitize } from '../../../output/sanitize.ts';

/** `--dry-run`: the request as a command that sends it, one line. */
export const curlText = (request: CurlRequest): Buffer => Buffer.from(`${curlCommand(request)}\n`);

/**
 * `--dry-run=http`: the request as HTTP/1.1 sends it, with a variable in place of a secret; its bytes exactly, or, for a
 * terminal, as it can be shown there. An empty line ends it, which may stand before the next request (RFC 9112, section 2.2).
 */
export function httpText(
  { url, method, headers, body, secrets = [] }: CurlRequest,
  isTerminal: boolean,
): Buffer {
  const { host, pathname, search } = new URL(url);
  const sent = headers.some(([name]) => /^host$/i.test(name))
    ? headers
    : [['Host', host] as const, ...headers];
  const lines = [
    `${method} ${pathname}${search} HTTP/1.1`,
    ...sent.map(([name, value]) => `${name}: ${withVariables(value, secrets)}`),
    `Content-Length: ${body.length}`,
  ];
  if (!isTerminal) {
    return Buffer.concat([
      Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'),
      body,
      Buffer.from('\r\n\r\n'),
    ]);
  }
  const text = Buffer.from(body).toString('utf8').split('\n');
  return Buffer.from(`${[...lines, '', ...text, ''].map(sanitize).join('\n')}\n`);
}
