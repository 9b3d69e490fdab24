import { expect, test } from 'vitest';
import { forwardRequest } from '../../../src/receiver/targets/forward.ts';
import type { CheckedDelivery } from '../../../src/webhook/check-delivery.ts';

const checked = (path: string, method = 'POST', ids: readonly string[] = ['a']): CheckedDelivery => {
  const body = Buffer.from('{"id":"a"}');
  return {
    kind: 'leads',
    delivery: { method, path, url: '', rawHeaders: [], body, remote: '', receivedAt: 0 },
    leads: ids.map((leadId) => ({
      lead: { bytes: body, id: leadId, createdAt: undefined, category: undefined },
      leadId,
      warnings: [],
    })),
    key: 0,
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
  const request = forwardRequest({ ...checked('/api', 'GET'), key: -1, source: 'backfill' }, 1, options);
  expect(request?.url).toBe('https://app.test/base');
  expect(request?.headers).toContainEqual(['leads-verified', 'backfill']);
});

test('an id that no header can hold does not fail', () => {
  const request = forwardRequest(checked('/', 'POST', ['a\ud800\r\nb']), 1, options);
  expect(request?.headers).toContainEqual(['leads-lead-id', 'a%EF%BF%BD%0D%0Ab']);
});

test('several leads are named in one header, as long as they are not too many', () => {
  const headers = (ids: readonly string[]) =>
    forwardRequest(checked('/', 'POST', ids), 3, options)?.headers ?? [];
  expect(headers(['a', 'b,c', 'é'])).toEqual(
    expect.arrayContaining([
      ['leads-lead-id', 'a,b%2Cc,%C3%A9'],
      ['leads-attempt', '3'],
    ]),
  );
  const many = Array.from({ length: 1000 }, (_, i) => `lead-${i}`);
  expect(headers(many).map(([name]) => name)).not.toContain('leads-lead-id');
});
