import { expect, test } from 'vitest';
import { componentOf } from '../../../src/webhook/rfc9421/signature-base.ts';
import { type Item, parseList } from '../../../src/webhook/rfc9421/structured-fields.ts';

const valueOf = (identifier: string, path: string, rawHeaders: readonly [string, string][] = []) =>
  componentOf(
    { method: 'POST', url: `https://www.example.com${path}`, path, rawHeaders },
    parseList(identifier)?.[0] as Item,
  );

test('a parameter of the query is read as in section 2.2.8', () => {
  const simple = '/path?param=value&foo=bar&baz=batman&qux=';
  expect(valueOf('"@query-param";name="baz"', simple)).toBe('batman');
  expect(valueOf('"@query-param";name="qux"', simple)).toBe('');
  expect(valueOf('"@query-param";name="param"', simple)).toBe('value');
  const encoded =
    '/parameters?var=this%20is%20a%20big%0Amultiline%20value&bar=with+plus+whitespace&fa%C3%A7ade%22%3A%20=something';
  expect(valueOf('"@query-param";name="var"', encoded)).toBe('this%20is%20a%20big%0Amultiline%20value');
  expect(valueOf('"@query-param";name="bar"', encoded)).toBe('with%20plus%20whitespace');
  expect(valueOf('"@query-param";name="fa%C3%A7ade%22%3A%20"', encoded)).toBe('something');
  expect(valueOf('"@query-param";name="a"', "/?a=!~'()*-._")).toBe('%21%7E%27%28%29*-._');
});

test.each([
  ['one that is not there', '"@query-param";name="none"', '/?a=1'],
  ['one that is there twice', '"@query-param";name="a"', '/?a=1&a=2'],
  ['one without a name', '"@query-param"', '/?a=1'],
  ['a name that is no text', '"@query-param";name=a', '/?a=1'],
  ['a name and more', '"@query-param";name="a";req', '/?a=1'],
  ['a name for the whole query', '"@query";name="a"', '/?a=1'],
  ['another parameter in place of the name', '"@query-param";key="a"', '/?a=1'],
])('a parameter of the query is not read: %s', (_, identifier, path) => {
  expect(valueOf(identifier, path)).toBeUndefined();
});

test('the parts of the target are read as in section 2.2', () => {
  const path = '/path?a=b?c&d';
  expect(valueOf('"@method"', path)).toBe('POST');
  expect(valueOf('"@target-uri"', path)).toBe(`https://www.example.com${path}`);
  expect(valueOf('"@authority"', path)).toBe('www.example.com');
  expect(valueOf('"@scheme"', path)).toBe('https');
  expect(valueOf('"@request-target"', path)).toBe(path);
  expect(valueOf('"@path"', path)).toBe('/path');
  expect(valueOf('"@query"', path)).toBe('?a=b?c&d');
  expect(valueOf('"@query"', '/path')).toBe('?');
  expect(valueOf('"@query-param";name="a"', path)).toBe('b%3Fc');
  for (const identifier of ['"@status"', '"@signature-params"', '"@query-params"', '"@"']) {
    expect(valueOf(identifier, path), identifier).toBeUndefined();
  }
  const unreadable = { method: 'POST', url: 'no url', path, rawHeaders: [] };
  for (const name of ['@authority', '@scheme']) {
    expect(componentOf(unreadable, parseList(`"${name}"`)?.[0] as Item)).toBeUndefined();
  }
});

test('a header is read in its strict form, and as bytes (section 2.1)', () => {
  const rawHeaders: [string, string][] = [
    ['Example-Dict', ' a=1,    b=2;x=1;y=2,   c=(a   b   c), d'],
    ['Example-Header', 'value, with, lots'],
    ['Example-Header', 'of, commas'],
    ['Not-Structured', 'Tue, 20 Apr 2021 02:07:55 GMT'],
    ['X-Latin', 'caf\u00e9'],
    ['X-Utf-8', ' \tvoil\u00c3\u00a0 \t'],
    ['Lists', 'a,  b'],
    ['Lists', 'c'],
  ];
  const of = (identifier: string) => valueOf(identifier, '/', rawHeaders);
  expect(of('"example-dict"')).toBe('a=1,    b=2;x=1;y=2,   c=(a   b   c), d');
  expect(of('"example-dict";sf')).toBe('a=1, b=2;x=1;y=2, c=(a b c), d');
  expect(of('"lists";sf')).toBe('a, b, c');
  expect(of('"example-header"')).toBe('value, with, lots, of, commas');
  expect(of('"example-header";bs')).toBe(':dmFsdWUsIHdpdGgsIGxvdHM=:, :b2YsIGNvbW1hcw==:');
  expect(of('"x-utf-8"')).toBe('voil\u00c3\u00a0');
  expect(of('"x-latin";bs')).toBe(':Y2Fm6Q==:');
  expect(of('"not-structured";sf')).toBeUndefined();
  for (const identifier of ['"none";bs', '"none";sf', '"example-dict";sf;bs', '"example-dict";tr']) {
    expect(of(identifier), identifier).toBeUndefined();
  }
  for (const identifier of ['"example-dict";sf="1"', '"@method";sf', '"Example-Dict";bs', 'token']) {
    expect(of(identifier), identifier).toBeUndefined();
  }
});
