import { expect, test } from 'vitest';
import { ConfigError } from '../../../src/errors.ts';
import { parseTemplate } from '../../../src/webhook/schemes/template-scheme.ts';

const request = {
  method: 'POST',
  url: 'https://a.example/x%3Ay?q=%2f%20%26&caf\u00e9',
  path: '/x%3Ay?q=%2f%20%26&caf\u00e9',
  body: Buffer.from([0x7b, 0xff, 0x7d]),
};
const filled = (text: string) =>
  Buffer.concat(parseTemplate(text).fill(request, '5\u00b2', 'n-\u00e9')).toString('latin1');

test.each([
  ['{body}', '{\u00ff}'],
  ['{timestamp}.{body}', '5\u00b2.{\u00ff}'],
  ['{timestamp}{id}{body}', '5\u00b2n-\u00e9{\u00ff}'],
  ['{id}|{nonce}|{body}', 'n-\u00e9|n-\u00e9|{\u00ff}'],
  ['{method} {path}\n{body}', `POST ${request.path}\n{\u00ff}`],
  ['{url}{body}', `${request.url}{\u00ff}`],
  ['{decodedUrl}{body}', 'https://a.example/x:y?q=/%20%26&caf\u00e9{\u00ff}'],
  ['é{body}{body}', `${Buffer.from('é').toString('latin1')}{\u00ff}{\u00ff}`],
])('%j is filled with bytes as they were sent', (text, signed) => {
  expect(filled(text)).toBe(signed);
});

test('the body is neither copied nor decoded', () => {
  const parts = parseTemplate('{timestamp}.{body}').fill(request, '5', '');
  expect(parts.some((part) => part === request.body)).toBe(true);
});

test.each(['', 'body', '{timestamp}', '{Body}', '{body}{host}', '{body}{}', '{body}{', '{body}{ body}'])(
  'a template that does not cover the body, or names what is unknown, is an error: %j',
  (text) => {
    expect(() => parseTemplate(text)).toThrow(ConfigError);
  },
);
