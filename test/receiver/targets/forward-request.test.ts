import { expect, test } from 'vitest';
import { forwardRequest } from '../../../src/receiver/targets/forward-request.ts';
import type { CheckedDelivery } from '../../../src/webhook/check-delivery.ts';

const checked = (path: string, method = 'POST', leadId = 'a'): CheckedDelivery => {
  const body = Buffer.from('{"id":"a"}');
  return {
    kind: 'lead',
    delivery: { method, path, url: '', rawHeaders: [], body, remote: '', receivedAt: 0 },
    lead: { bytes: body, id: leadId, createdAt: undefined, category: undefined },
    leadId,
    key: 0,
    warnings: [],
  };
};

const options = {
  url: new URL('https://app.test/base'),
  credentials: undefined,
  keepPath: true,
  scheme: 'github',
} as const;

test.each([
  ['/hook?a=1', 'https://app.test/base/hook?a=1'],
  ['//evil.test/x', 'https://app.test/base//evil.test/x'],
  ['http://evil.test/hook', 'https://app.test/base/hook'],
  ['http://evil.test?a', 'https://app.test/base/?a'],
  ['*', 'https://app.test/base/*'],
  ['@evil.test/', 'https://app.test/base/@evil.test/'],
  ['/..', undefined],
  ['/%2E%2e/x', undefined],
  [String.raw`/..\x`, undefined],
])('the path %s is kept behind that of the URL', (path, expected) => {
  expect(forwardRequest(checked(path), 1, options)?.url).toBe(expected);
});

test('a lead that was fetched from the service goes to the URL itself, as such', () => {
  const request = forwardRequest({ ...checked('/api', 'GET'), key: -1 }, 1, options);
  expect(request?.url).toBe('https://app.test/base');
  expect(request?.headers).toContainEqual(['leads-verified', 'backfill']);
});

test('an id that no header can hold does not fail', () => {
  const request = forwardRequest(checked('/', 'POST', 'a\ud800\r\nb'), 1, options);
  expect(request?.headers).toContainEqual(['leads-lead-id', 'a%EF%BF%BD%0D%0Ab']);
});
