import { expect, it } from 'vitest';
import { targetAddress } from '../../src/inbox/target-name.ts';

it.each([
  ['forward https://user:pass@app.test/hook/leads?key=1', 'https://app.test/hook/leads'],
  [
    'forward https://hooks.test/services/T0001/B0002/abcdEFGH1234ijklMNOP5678',
    'https://hooks.test/services/T0001/B0002/…5678',
  ],
  ['forward https://app.test/receive-leads-of-the-company', 'https://app.test/receive-leads-of-the-company'],
  ['exec ./store', undefined],
])('the address that is kept of %s holds no credential', (target, address) => {
  expect(targetAddress(target)).toBe(address);
});
