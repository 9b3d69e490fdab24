export interface FailureCause {
  readonly status?: number | undefined;
  /** `timeout`, or the system's or TLS's own code such as `ECONNREFUSED`. */
  readonly error?: string | undefined;
}

/** Says what the sender met and what to check, in one sentence without a full stop. */
export function explainFailure({ status, error = '' }: FailureCause): string {
  return status === undefined ? (explanationOf(error) ?? error) : `it answered ${status}${adviceFor(status)}`;
}

function adviceFor(status: number): string {
  if (status === 401 || status === 403) return ': check that both sides use the same scheme and secret';
  if (status === 404 || status === 405) return ': check the path of the URL';
  if (status >= 300 && status < 400) return ', and redirects are not followed';
  return status >= 200 && status < 300 ? ', and only 200 acknowledges' : '';
}

const closedWithoutAnswer =
  'the connection was closed without an answer (check http or https; a receiver that closes connections has to say ' +
  "'Connection: close')";

/** By a pattern of the code; the first that matches explains it. The patterns without `^` match codes of OpenSSL. `CODE` is replaced. */
const explanations: readonly (readonly [pattern: RegExp, text: string])[] = [
  [/^ECONNREFUSED$/, 'connection refused (no program listens there)'],
  [/^timeout$/, 'no answer in time'],
  [/^(ENOTFOUND|EAI_AGAIN)$/, 'the host name cannot be resolved (CODE)'],
  [/^(ECONNRESET|EPIPE)$/, closedWithoutAnswer],
  [/ALERT_PROTOCOL_VERSION|UNSUPPORTED_PROTOCOL/, 'it speaks neither TLS 1.2 nor TLS 1.3 (CODE)'],
  [/NO_APPLICATION_PROTOCOL/, 'it speaks HTTP/2 only (CODE)'],
  [/^(EPROTO|ERR_SSL_WRONG_VERSION_NUMBER)$/, 'TLS failed (CODE): does it speak plain HTTP?'],
  [/^UNASKED_CONTINUE$/, 'it answered 100 Continue, which was not asked for'],
  [/^HPE_HEADER_OVERFLOW$/, 'the headers of its answer are too long'],
  [/^HPE_INVALID$/, 'its answer is not HTTP'],
  [/^ERR_TLS_CERT_ALTNAME_INVALID$/, 'its certificate is for another host name (CODE)'],
  [/^CERT_NOT_YET_VALID$/, 'its certificate is not valid yet (CODE)'],
  [/^CERT_HAS_EXPIRED$/, 'its certificate has expired (CODE)'],
  [/CERTIFICATE_REQUIRED/, 'it asks for a certificate of the client (CODE)'],
  [/CERT|SIGNATURE|ISSUER/, 'its certificate is not trusted (CODE)'],
];

const explanationOf = (code: string): string | undefined =>
  explanations.find(([pattern]) => pattern.test(code))?.[1].replace('CODE', () => code);
