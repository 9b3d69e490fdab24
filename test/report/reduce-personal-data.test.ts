import { expect, it } from 'vitest';
import {
  initials,
  lastDigits,
  reducedValue,
  withoutContacts,
} from '../../src/report/reduce-personal-data.ts';

it('leaves initials of a name, and the last digits of a phone number', () => {
  expect(['Ada Lovelace', 'ada', ' Émile  Zola ', '', '李 小龙'].map(initials)).toEqual([
    'A. L.',
    'A.',
    'É. Z.',
    '',
    '李. 小.',
  ]);
  expect(['+1 (555) 000-1234', '5550001', '1234', ''].map(lastDigits)).toEqual(['…234', '…001', '…', '']);
});

it('finds e-mail addresses and phone numbers in what somebody wrote, and leaves ids and times', () => {
  expect(withoutContacts('from ada@example.com, +44 20 7946 0018 or (020) 7946 0018')).toBe(
    'from a…@…, …018 or …018',
  );
  for (const text of ['lead_20261126001', '2026-11-26 14:02:11', '1764165731', 'a@', '5 + 3']) {
    expect(withoutContacts(text)).toBe(text);
  }
});

it('hides the values of fields that are of a person', () => {
  expect(reducedValue('contact.name', 'Ada Lovelace')).toBe('A. L.');
  expect(reducedValue('contact.email', 'ada@example.com')).toBe('a…@…');
  expect(reducedValue('contact.phone', '+15550001234')).toBe('…234');
  expect(reducedValue('contact.address', '12 Long Lane')).toBe('…');
  expect(reducedValue('metadata.source', 'facebook')).toBe('facebook');
  expect(reducedValue('metadata.referrer', 'mail ada@example.com')).toBe('mail a…@…');
});
