import { describe, expect, it } from 'vitest';
import { kindByStatus, kindByText } from '../../../src/service/client/failure-kind.ts';

const kindOf = (status: number, text: string, headers: Record<string, string> = {}): string =>
  kindByStatus({ status, headers }, text.startsWith('<') ? undefined : text, text);

describe('a refusal', () => {
  it.each([401, 403])('with %d is about the key where nothing says otherwise', (status) => {
    expect(kindOf(status, '')).toBe('key');
    expect(kindOf(status, 'invalid key')).toBe('key');
    expect(kindOf(status, 'Forbidden')).toBe('key');
    expect(kindOf(status, 'this key may read at most 100 per page: page limit')).toBe('key');
  });

  it('in JSON is one of the service, whatever type that has', () => {
    expect(kindOf(401, '{"error":"no"}', { 'content-type': 'text/html' })).toBe('key');
    expect(kindOf(403, '', { 'content-type': 'text/html' })).toBe('key');
  });

  it.each([
    'API rate limit exceeded',
    'RATE_LIMIT_EXCEEDED',
    'RateLimitExceeded',
    'Quota exceeded for quota metric',
    'dailyLimitExceeded: Daily Limit Exceeded',
    'User Rate Limit Exceeded',
    'You have exceeded your monthly request limit',
    'Too Many Requests',
    'ThrottlingException',
    'You have reached your secondly limit.',
    'The limit of 1000 calls was reached: limit reached',
    'error code: 1015',
    'calls are too frequent',
    'Slow down',
  ])('is a rate limit where the service says %s', (text) => {
    expect([401, 403].map((status) => kindOf(status, text))).toEqual(['rate-limit', 'rate-limit']);
  });

  it.each([{ 'retry-after': '5' }, { 'x-ratelimit-remaining': '0' }, { 'ratelimit-remaining': '0' }])(
    'is a rate limit with the headers %o',
    (headers) => {
      expect(kindOf(403, 'no', headers as Record<string, string>)).toBe('rate-limit');
    },
  );

  it.each([
    ['Cloudflare', 403, '<html><title>Just a moment...</title></html>', { 'cf-mitigated': 'challenge' }],
    ['Cloudflare, block', 403, 'error code: 1020', {}],
    ['Cloudflare before the header', 503, '<!DOCTYPE html><title>Just a moment...</title>', {}],
    ['Akamai', 403, '<HTML><HEAD><TITLE>Access Denied</TITLE></HEAD>Reference #18.4f</HTML>', {}],
    ['AWS WAF, challenge', 202, '', { 'x-amzn-waf-action': 'challenge' }],
    ['AWS WAF, captcha', 405, '', { 'x-amzn-waf-action': 'captcha' }],
    ['CloudFront', 403, '<!DOCTYPE HTML><TITLE>ERROR: The request could not be satisfied</TITLE>', {}],
    ['Imperva', 403, '<html>Request unsuccessful. Incapsula incident ID: 1</html>', {}],
    ['Vercel', 429, '', { 'x-vercel-mitigated': 'challenge' }],
    ['DataDome', 403, '{"url":"https://geo.captcha-delivery.com/captcha/?a=1"}', {}],
    ['HUMAN', 403, '{"appId":"PXab12","blockScript":"/x.js"}', {}],
    ['F5', 200, '<html><head><title>Request Rejected</title></head>Your support ID is: 1</html>', {}],
    ['Azure', 403, '<html><body>The request is blocked.</body></html>', {}],
    ['nginx', 401, '<html><head><title>401 Authorization Required</title></head></html>', {}],
    ['ModSecurity', 406, '<html><title>Attention Required! | x</title></html>', {}],
    ['a network that asks for a login', 511, '', {}],
    ['a content type', 403, 'no', { 'content-type': 'text/html; charset=utf-8' }],
  ])('of %s is that of something in front of the service', (_, status, body, headers) => {
    expect(kindOf(status, body, headers as Record<string, string>)).toBe('gateway');
  });
});

describe('another status', () => {
  it.each([
    [429, '<html><title>429 Too Many Requests</title></html>', 'rate-limit'],
    [503, 'SlowDown', 'passing'],
    [503, 'rate_limited: slow down', 'rate-limit'],
    [400, '(#17) User request limit reached', 'rate-limit'],
    [400, 'limit must be at most 100', 'other'],
    [400, 'page size limit exceeded', 'other'],
    [413, 'limit exceeded', 'other'],
    [500, 'internal error', 'passing'],
    [502, '<html><title>502 Bad Gateway</title></html>', 'passing'],
    [404, '<html><title>Not found</title></html>', 'other'],
    [501, '', 'other'],
  ])('%d with %s is %s', (status, text, kind) => {
    expect(kindOf(status, text)).toBe(kind);
  });
});

describe('a text in a 200', () => {
  it.each([
    ['Session expired or invalid (INVALID_SESSION_ID)', 'key'],
    ['The access_token is invalid.', 'key'],
    ['API key not valid', 'key'],
    ['unauthorized access', 'key'],
    ['invalid_grant', 'key'],
    ['JWT expired', 'key'],
    ['pageToken is invalid', 'other'],
    ['the cursor token has expired', 'other'],
    ['duplicate key in the table', 'other'],
    ['the service is temporarily unavailable', 'passing'],
    ['upstream timed out', 'passing'],
    ['no such field', 'other'],
  ])('%s is %s', (text, kind) => {
    expect(kindByText(text)).toBe(kind);
  });

  it('goes with a code that is a status of HTTP', () => {
    expect([401, 403, 429, 500, 503, 404, 7].map((code) => kindByText('no', code))).toEqual([
      'key',
      'key',
      'rate-limit',
      'passing',
      'passing',
      'other',
      'other',
    ]);
  });
});
