import { expect, test } from 'vitest';
import { notReached } from '../../src/commands/flags/delivery-target.ts';
import { explainFailure, type FailureCause } from '../../src/sender/explain-failure.ts';

test.each<{ cause: FailureCause; said: string }>([
  { cause: { error: 'ECONNREFUSED' }, said: 'connection refused' },
  { cause: { error: 'timeout' }, said: 'no answer in time' },
  { cause: { error: 'ENOTFOUND' }, said: 'cannot be resolved (ENOTFOUND)' },
  { cause: { error: 'ECONNRESET' }, said: 'closed without an answer (check http or https; a receiver that' },
  { cause: { error: 'HPE_HEADER_OVERFLOW' }, said: 'the headers of its answer are too long' },
  { cause: { error: 'HPE_INVALID' }, said: 'its answer is not HTTP' },
  { cause: { error: 'UNASKED_CONTINUE' }, said: 'it answered 100 Continue, which was not asked for' },
  { cause: { error: 'EPROTO' }, said: 'does it speak plain HTTP?' },
  {
    cause: { error: 'SELF_SIGNED_CERT_IN_CHAIN' },
    said: 'certificate is not trusted (SELF_SIGNED_CERT_IN_CHAIN)',
  },
  { cause: { error: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE' }, said: 'certificate is not trusted' },
  { cause: { error: 'ERR_TLS_CERT_ALTNAME_INVALID' }, said: 'certificate is for another host name' },
  { cause: { error: 'CERT_HAS_EXPIRED' }, said: 'certificate has expired' },
  {
    cause: { error: 'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED' },
    said: 'it asks for a certificate of the client',
  },
  { cause: { error: 'CERT_NOT_YET_VALID' }, said: 'certificate is not valid yet' },
  { cause: { error: 'ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION' }, said: 'neither TLS 1.2 nor TLS 1.3' },
  { cause: { error: 'EHOSTUNREACH' }, said: 'EHOSTUNREACH' },
  { cause: { status: 401 }, said: 'answered 401: check that both sides use the same scheme and secret' },
  { cause: { status: 404 }, said: 'answered 404: check the path' },
  { cause: { status: 302 }, said: 'answered 302, and redirects are not followed' },
  { cause: { status: 204 }, said: 'answered 204, and only 200 acknowledges' },
  { cause: { status: 500 }, said: 'answered 500' },
])('$cause is explained as: $said', ({ cause, said }) => {
  expect(explainFailure(cause)).toContain(said);
});

test.each([
  { code: 'CERT_NOT_YET_VALID', isLocal: false, hint: 'is the clock of this machine right?' },
  { code: 'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED', isLocal: false, hint: undefined },
  { code: 'EPROTO', isLocal: false, hint: undefined },
  { code: 'EPROTO', isLocal: true, hint: 'if it speaks plain HTTP, use http://' },
])('$code of a receiver with isLocal $isLocal has the hint: $hint', ({ code, isLocal, hint }) => {
  const trust = { authorities: [], insecure: false };
  const target = { url: new URL('https://a.example/'), isLocal, trust, caFile: undefined, proxy: undefined };
  expect(notReached(code, target).hint).toBe(hint);
});
