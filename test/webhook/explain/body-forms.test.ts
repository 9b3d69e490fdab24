import { expect, test } from 'vitest';
import { bodyForms } from '../../../src/webhook/explain/body-forms.ts';

test('the forms of a deep body stay within a few times what may be parsed', () => {
  const deep = '['.repeat(199);
  const body = Buffer.from(`${deep}${'1,'.repeat(130_000)}1${deep.replaceAll('[', ']')}`);
  const forms = bodyForms(body);
  expect(forms.map(({ text }) => text)).toContain('the JSON written again as Python does, with json.dumps');
  expect(forms.reduce((sum, { bytes }) => sum + bytes.length, 0)).toBeLessThan(8 * 1024 * 1024);
});

test('brackets in a string do not hide how deep a body is', () => {
  const deep = `${'['.repeat(20_000)}${']'.repeat(20_000)}`;
  const forms = bodyForms(Buffer.from(`["${']'.repeat(20_000)}",${deep}]`));
  expect(forms.map(({ text }) => text)).not.toContain(
    'the JSON written again as Python does, with json.dumps',
  );
});

test('a body of quotes in a string without an end is read once', () => {
  const start = performance.now();
  bodyForms(Buffer.from(`"${'\\"'.repeat(120_000)}`));
  expect(performance.now() - start).toBeLessThan(2000);
});
