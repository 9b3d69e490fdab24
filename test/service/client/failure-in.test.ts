import { describe, expect, it } from 'vitest';
import { failureInBody } from '../../../src/service/client/failure-kind.ts';
import type { Json } from '../../../src/json/exact.ts';

const failures: readonly (readonly [kind: string, text: string, body: Json])[] = [
  ['key', 'invalid key', { response: { result: 'error', message: 'invalid key', data: [] } }],
  ['other', "'isError' is true", { isError: true, data: [] }],
  ['other', '\'success\' is "false"', { success: 'false', data: [] }],
  ['other', "'success' is 0", { success: 0, data: [] }],
  ['rate-limit', 'too many requests', { message: 'too many requests', data: [] }],
  ['rate-limit', 'limit (17)', { error_code: 17, error_msg: 'limit', data: [] }],
  ['passing', 'please try again later, error 12', { message: 'please try again later, error 12', data: [] }],
  ['key', 'INVALID_TOKEN', { code: 'INVALID_TOKEN', data: [] }],
  ['key', 'not_authenticated', { ok: false, error: 'not_authenticated' }],
  ['other', 'no account', { base_resp: { status_code: 1004, status_msg: 'no account' } }],
  ['key', "'status' is 401", { status: 401, data: [] }],
  ['passing', "'statusCode' is 503", { statusCode: 503, items: [] }],
  ['other', 'no such table', { status: false, msg: 'no such table', result: [] }],
  ['other', 'bad filter', { data: [], meta: { success: false, reason: 'bad filter' } }],
  ['other', 'Cannot query field', { data: { leads: [] }, errors: [{ message: 'Cannot query field' }] }],
  ['rate-limit', 'OVER_QUERY_LIMIT', { status: 'OVER_QUERY_LIMIT', results: [] }],
  ['passing', 'db timeout', { info: 'db timeout', data: [] }],
  ...['err', 'problem', 'exceptions', 'failures'].map((name): (typeof failures)[number] => [
    'other',
    `'${name}' is "SHARD_17"`,
    { [name]: 'SHARD_17', data: [] },
  ]),
  ['other', 'SHARD_17', { faultcode: 'SHARD_17', data: [] }],
  ['other', 'degraded', { status: 'degraded', data: [] }],
  ['other', 'no permission to read leads', { message: 'no permission to read leads', data: [] }],
  ['other', 'bad (-3)', { errno: -3, errmsg: 'bad', list: [] }],
];

it.each(failures)('%s: %s', (kind, text, body) => {
  expect(failureInBody(body, { isEmpty: true })).toEqual({ kind, text });
});

describe('an empty list that is honest', () => {
  const honest: readonly Json[] = [
    [],
    null,
    { data: [], success: 'true', errors: [], error: null, code: 0 },
    { data: [], code: '00000', msg: '操作成功' },
    { data: [], code: 20000, message: 'success' },
    { data: [], code: 1, msg: '' },
    { data: [], status: 'ok', result: 'success', errors: {}, error: false, error_code: 0 },
    { data: [], status: 200, statusCode: 204 },
    { data: [], message: 'No leads found' },
    { data: [], message: 'No leads with the status failed' },
    { data: [], message: 'the list of failed leads is empty' },
    { data: [], error: { code: 0, message: '' }, errors: { count: 0, items: [] } },
    { data: [], error: { code: 200, message: 'OK' } },
    { results: [], status: 'ZERO_RESULTS' },
    { data: [], links: { title: 'Error log' }, description: 'leads that failed' },
    { data: [], message: 'could not find any matching leads: 0 leads found' },
    { data: [], message: 'Request completed without error' },
    { data: [], error: '', errorMessage: 'none' },
    { data: [], filters: { status: 'failed' }, meta: { status: 'new' } },
    { data: [], currency: { code: 'EUR' }, region: { code: 7 } },
    { data: [], has_more: false, valid: false, archived: false },
    { ok: 12, data: [] },
  ];

  it.each(honest.map((body) => [JSON.stringify(body), body] as const))('%s', (_, body) => {
    expect(failureInBody(body, { isEmpty: true })).toBeUndefined();
  });

  it('may have what the first answer with leads had', () => {
    const body = { status: 'failed', code: 7, data: [] };
    expect(failureInBody(body, { isEmpty: true, first: body })).toBeUndefined();
    expect(failureInBody({ ...body, code: 8 }, { isEmpty: true, first: body })).toMatchObject({
      text: "'code' is 8",
    });
    expect(failureInBody({ ok: false }, { isEmpty: false, first: { ok: true } })).toBeDefined();
  });

  it('may have a list or an object with the content that the first answer with leads had', () => {
    const body = (warning: string) => ({
      data: [],
      errors: [{ message: `${warning} is deprecated` }],
      error: { code: 7 },
    });
    expect(failureInBody(body('v1'), { isEmpty: true, first: body('v1') })).toBeUndefined();
    expect(failureInBody(body('v1'), { isEmpty: true, first: body('v2') })).toBeDefined();
  });

  it('may repeat what was asked for', () => {
    const requestUrl = new URL('https://service.example/leads?status=failed');
    expect(failureInBody({ status: 'failed', data: [] }, { isEmpty: true, requestUrl })).toBeUndefined();
    expect(failureInBody({ status: 'failed', data: [] }, { isEmpty: true })).toBeDefined();
  });

  it('may repeat a number that was asked for by the same name', () => {
    const requestUrl = new URL('https://service.example/leads?filter[code]=7&limit=500');
    expect(failureInBody({ code: 7, data: [] }, { isEmpty: true, requestUrl })).toBeUndefined();
    expect(failureInBody({ status: 500, data: [] }, { isEmpty: true, requestUrl })).toBeDefined();
    expect(failureInBody({ status: '500', data: [] }, { isEmpty: true, requestUrl })).toBeDefined();
  });
});

it('beside leads, only a flag is a failure', () => {
  expect(failureInBody({ message: 'too many requests', data: [] }, { isEmpty: false })).toBeUndefined();
  expect(failureInBody({ success: false, data: [] }, { isEmpty: false })).toBeDefined();
});

it('loses its secrets', () => {
  const body = { success: false, message: 'the key abc is not known' };
  const redact = (text: string): string => text.replaceAll('abc', '…');
  expect(failureInBody(body, { isEmpty: true, redact })?.text).toBe('the key … is not known');
});
