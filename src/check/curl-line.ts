import { curlCommand } from '../output/curl-command.ts';
import type { Signer } from '../sender/sign-request.ts';
import { withQuery } from './raw-request.ts';
import type { CheckRequest, CheckSession } from './session.ts';

export interface CurlTrust {
  /** A file of authorities in PEM. */
  readonly caFile: string | undefined;
  readonly insecure: boolean;
}

/** A word that stands for what a shell expression gives, and that no request holds otherwise. */
const placeholder = 'leads-check-placeholder';

/** A command line that sends the request again; what derives from a secret is made of the variable that holds it. */
export function curlLine(
  { endpoint, signer }: CheckSession,
  request: CheckRequest,
  trust: CurlTrust,
): string {
  const { shellBody, shellQuery, query, isChunked, sentWithinMs, method, body } = request;
  const shellValues = { ...request.shellValues, ...variablesOf(signer.headers) };
  const headers = request.headers.map(([name, value]) =>
    name.toLowerCase() in shellValues ? ([name, placeholder] as const) : ([name, value] as const),
  );
  const line = curlCommand({
    method,
    url: withQuery(endpoint.url, shellQuery === undefined ? query : placeholder).href,
    headers: isChunked === true ? [...headers, ['Transfer-Encoding', 'chunked'] as const] : headers,
    body: shellBody === undefined ? body : Buffer.from(placeholder),
    secrets: signer.key === undefined ? [] : [{ secret: signer.key.secret, variable: 'LEADS_WEBHOOK_TOKEN' }],
    ...trust,
  });
  const sent = Object.entries(shellValues).reduce(
    (text, [name, expression]) =>
      text.replace(new RegExp(`'${name}: ${placeholder}'`, 'i'), () => `"${name}: ${expression}"`),
    shellQuery === undefined ? line : line.replace(`${placeholder}'`, () => `'"${shellQuery}"`),
  );
  const rate =
    sentWithinMs === undefined ? '' : `--limit-rate ${Math.ceil((body.length * 1000) / sentWithinMs)} `;
  const paced = sent.replace(/^((?:.* \| )?curl -i )/, (start) => start + rate);
  return shellBody === undefined
    ? paced
    : `${shellBody} | ${paced.replace(`--data-binary '${placeholder}'`, '--data-binary @-')}`;
}

/** The user's own headers may hold credentials too: `Authorization` is written as `$AUTHORIZATION`. */
const variablesOf = (headers: Signer['headers'] = []): Readonly<Record<string, string>> =>
  Object.fromEntries(
    headers.map(([name]) => [name.toLowerCase(), `$${name.toUpperCase().replace(/[^A-Z0-9]/g, '_')}`]),
  );
