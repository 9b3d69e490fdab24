import { expect, test } from 'vitest';
import { bodyForms } from '../../../src/webhook/explain/body-forms.ts';

test('the forms of a deep body stay within a few times what may be parsed, and are made once', () => {
  const deep = '['.repeat(199);
  const body = Buffer.from(`${deep}${'1,'.repeat(130_000)}1${deep.replaceAll('[', ']')}`);
  const forms = bodyForms(body);
  expect(forms.map(({ name }) => name)).toContain('python');
  expect(forms.reduce((sum, { bytes }) => sum + bytes.length, 0)).toBeLessThan(8 * 1024 * 1024);
  expect(bodyForms(body)).toBe(forms);
});

test('a long flat body is indented', () => {
  const leads = Array.from({ length: 2000 }, (_, i) => ({ id: `lead_${i}`, note: 'a, b and [c]' }));
  const names = bodyForms(Buffer.from(JSON.stringify({ leads }))).map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(['indent-2', 'indent-4']));
});
