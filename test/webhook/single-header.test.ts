import { expect, test } from 'vitest';
import { soleHeader } from '../../src/webhook/delivery.ts';

const find = (...values: string[]) =>
  soleHeader({ rawHeaders: [['host', 'h'], ...values.map((value) => ['X-Time', value] as const)] }, 'x-time');

test('a header must come once and hold something', () => {
  expect(find('5')).toEqual({ ok: true, value: '5' });
  expect(find()).toMatchObject({
    ok: false,
    reason: 'missing_credential',
    detail: 'the header x-time is missing',
  });
  expect(find('')).toMatchObject({
    ok: false,
    reason: 'missing_credential',
    detail: 'the header x-time is empty',
  });
  expect(find('5', '', '5')).toMatchObject({
    ok: false,
    reason: 'repeated_credential',
    detail: 'the header x-time was sent 3 times',
  });
  expect(soleHeader({ rawHeaders: [] }, 'x-nonce', 'missing_nonce')).toMatchObject({
    reason: 'missing_nonce',
  });
});
