import { expect, test } from 'vitest';
import { jsonContent } from '../../src/webhook/check-delivery.ts';
import { delivered, type Headers } from './delivery.ts';

const check = (headers: Headers) =>
  jsonContent({ ...delivered([]), rawHeaders: headers.map(([name, value]) => [name, value] as const) });

test.each([
  'application/json',
  'Application/JSON',
  'application/json;charset=utf-8',
  'application/json; charset="utf8"',
  'application/json; charset=UTF8',
  'application/json; charset=latin1',
  'application/json; charset=utf-16',
  'application/json; charset="utf-8',
  'application/json ; Charset="utf-8"',
  'application/vnd.acme.lead+json',
  'application/problem+json; profile=x',
  'text/json; charset=utf-8',
  'application/json; profile="charset=latin1"',
])('JSON in UTF-8 is taken: %s', (type) => {
  expect(check([['Content-Type', type]])).toEqual({ ok: true });
});

test.each([
  '',
  'text/plain',
  'text/vnd.acme+json',
  'application/jsonx',
  'xapplication/json',
  'application/+json',
  'application/json charset=utf-8',
  'application/x-www-form-urlencoded',
  'application/json, application/json',
])('anything else is not: %j', (type) => {
  expect(check([['Content-Type', type]])).toMatchObject({ ok: false, reason: 'wrong_content_type' });
});

test('a content type is sent once, and a body as it is', () => {
  const json = ['content-type', 'application/json'] as const;
  expect(check([])).toMatchObject({
    reason: 'wrong_content_type',
    detail: expect.stringContaining('missing') as string,
  });
  expect(check([json, json])).toMatchObject({
    reason: 'wrong_content_type',
    detail: expect.stringContaining('twice') as string,
  });
  for (const coding of ['gzip', 'identity, gzip', 'identityx', 'xidentity', '']) {
    expect(check([json, ['Content-Encoding', coding]]), coding).toMatchObject({ reason: 'encoded_body' });
  }
  expect(check([json, ['Content-Encoding', 'Identity']])).toEqual({ ok: true });
  expect(check([json, ['Content-Encoding', 'identity'], ['content-encoding', 'br']])).toMatchObject({
    reason: 'encoded_body',
    detail: "the body is sent with content-encoding 'br'; only identity is accepted",
  });
});
