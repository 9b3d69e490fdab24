/** Why an attempt was not acknowledged: the status of the answer, or the code of what happened instead of one. */
export interface FailureCause {
  readonly status?: number | undefined;
  /** `timeout`, or the system's or TLS's own code such as `ECONNREFUSED`. */
  readonly error?: string | undefined;
}

/** What the sender met and what to check, in one sentence without a full stop. */
export function explainFailure({ status, error = '' }: FailureCause): string {
  return status === undefined ? explainSilence(error) : `it answered ${status}${adviceFor(status)}`;
}

function adviceFor(status: number): string {
  if (status === 401 || status === 403) return ': check that both sides use the same scheme and secret';
  if (status === 404 || status === 405) return ': check the path of the URL';
  if (status >= 300 && status < 400) return ', and redirects are not followed';
  if (status >= 200 && status < 300) return ', and only 200 acknowledges';
  return '';
}

function explainSilence(code: string): string {
  if (code === 'ECONNREFUSED') return 'connection refused (no program listens there)';
  if (code === 'timeout') return 'no answer in time';
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return `the host name cannot be resolved (${code})`;
  if (code === 'ECONNRESET') return 'the connection was closed without an answer (check http or https)';
  if (code === 'EPROTO' || code === 'ERR_SSL_WRONG_VERSION_NUMBER') {
    return `TLS failed (${code}): does it speak plain HTTP?`;
  }
  if (code === 'HPE_HEADER_OVERFLOW') return 'the headers of its answer are too long';
  if (code.startsWith('HPE_')) return `its answer is not HTTP (${code})`;
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return `its certificate is for another host name (${code})`;
  if (code === 'CERT_HAS_EXPIRED') return `its certificate has expired (${code})`;
  return /CERT|SIGNATURE|ISSUER/.test(code) ? `its certificate is not trusted (${code})` : code;
}
