import { describe, expect, it } from 'vitest';
import { parseProblem, problemText } from '../../../src/service/client/problem-text.ts';

const said = (body: string): string | undefined => problemText(parseProblem(body), (text) => text);

/** Bodies as these services send them, and the line that a person gets to read. */
const bodies: readonly (readonly [service: string, body: unknown, text: string | undefined])[] = [
  ['the specification', { error: 'quota', message: 'the plan has ended' }, 'the plan has ended (quota)'],
  ['an error in an object', { error: { code: 'quota', message: 'Too much' } }, 'Too much (quota)'],
  [
    'Google APIs',
    {
      error: {
        code: 403,
        message: 'Method does not allow unregistered callers.',
        status: 'PERMISSION_DENIED',
        errors: [
          { message: 'Method does not allow unregistered callers.', domain: 'global', reason: 'forbidden' },
        ],
      },
    },
    'Method does not allow unregistered callers. (forbidden) (PERMISSION_DENIED)',
  ],
  [
    'Google APIs with fields',
    {
      error: {
        code: 400,
        message: 'Invalid value',
        status: 'INVALID_ARGUMENT',
        details: [
          {
            '@type': 'x/google.rpc.BadRequest',
            fieldViolations: [{ field: 'page_size', description: 'Too large' }],
          },
        ],
      },
    },
    'Invalid value: page_size: Too large (INVALID_ARGUMENT)',
  ],
  [
    'HubSpot',
    {
      status: 'error',
      message: 'Authentication credentials not found.',
      correlationId: 'c033cdaa',
      category: 'INVALID_AUTHENTICATION',
    },
    'Authentication credentials not found. (INVALID_AUTHENTICATION)',
  ],
  [
    'OAuth (RFC 6749)',
    { error: 'invalid_grant', error_description: 'authentication failure' },
    'authentication failure (invalid_grant)',
  ],
  [
    'Pipedrive',
    {
      success: false,
      error: 'unauthorized access',
      errorCode: 401,
      error_info: 'Please check developers.pipedrive.com',
    },
    'Please check developers.pipedrive.com (unauthorized access)',
  ],
  [
    'Laravel',
    { message: 'The given data was invalid.', errors: { email: ['The email field is required.'] } },
    'The given data was invalid: The email field is required.',
  ],
  [
    'Rails, errors of fields',
    { errors: { name: ["can't be blank"], age: ['is not a number', 'is too low'] } },
    "name: can't be blank; age: is not a number; is too low",
  ],
  ['Rails, errors of the record', { errors: { base: ['Quota is used up'] } }, 'Quota is used up'],
  ['errors of fields as texts', { errors: { status: 'is invalid' } }, 'status: is invalid'],
  [
    'ASP.NET Core, validation problem',
    {
      type: 'https://tools.ietf.org/html/rfc9110#section-15.5.1',
      title: 'One or more validation errors occurred.',
      status: 400,
      traceId: '00-84c1',
      errors: { Name: ['The Name field is required.'] },
    },
    'One or more validation errors occurred: The Name field is required.',
  ],
  [
    'ASP.NET Web API',
    { Message: 'The request is invalid.', ModelState: { 'lead.Status': ['The value is not valid.'] } },
    'The request is invalid: lead.Status: The value is not valid.',
  ],
  [
    'ASP.NET Web API, exception',
    {
      Message: 'An error has occurred.',
      ExceptionMessage: 'Timeout expired',
      ExceptionType: 'System.Data.SqlException',
    },
    'An error has occurred: Timeout expired (System.Data.SqlException)',
  ],
  [
    'RFC 9457',
    { type: 'about:blank', title: 'Unprocessable', detail: 'status must be one of NEW, WON' },
    'status must be one of NEW, WON (Unprocessable)',
  ],
  [
    'AWS JSON protocol',
    { __type: 'com.amazonaws.dynamodb.v20120810#ThrottlingException', message: 'Rate exceeded' },
    'Rate exceeded (ThrottlingException)',
  ],
  [
    'AWS Lambda',
    { errorMessage: 'Task timed out after 3.00 seconds', errorType: 'Sandbox.Timedout' },
    'Task timed out after 3.00 seconds (Sandbox.Timedout)',
  ],
  [
    'AWS in XML',
    '<?xml version="1.0"?><ErrorResponse><Error><Type>Sender</Type><Code>Throttling</Code><Message>Rate exceeded</Message></Error></ErrorResponse>',
    'Rate exceeded (Throttling)',
  ],
  [
    'GraphQL',
    {
      errors: [
        {
          message: 'Cannot query field',
          locations: [{ line: 1, column: 2 }],
          extensions: { code: 'GRAPHQL_VALIDATION_FAILED' },
        },
      ],
      data: null,
    },
    'Cannot query field (GRAPHQL_VALIDATION_FAILED)',
  ],
  [
    'Spring Boot',
    {
      timestamp: '2026-01-01T00:00:00Z',
      status: 500,
      error: 'Internal Server Error',
      message: 'No route to the database',
      path: '/api/leads',
    },
    'No route to the database (Internal Server Error)',
  ],
  [
    'Spring Boot, page',
    '<html><body><h1>Whitelabel Error Page</h1><p>no mapping</p></body></html>',
    'Whitelabel Error Page',
  ],
  [
    'nginx',
    '<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body><center><h1>502 Bad Gateway</h1></center></body></html>',
    'Bad Gateway',
  ],
  [
    'Tomcat',
    '<!doctype html><html lang="en"><head><title>HTTP Status 404 – Not Found</title></head></html>',
    'Not Found',
  ],
  [
    'Express',
    '<!DOCTYPE html><html><head><title>Error</title></head><body><pre>Cannot GET /api/leads &amp; more</pre></body></html>',
    'Cannot GET /api/leads & more',
  ],
  [
    'FastAPI, validation',
    { detail: [{ loc: ['query', 'limit'], msg: 'ensure this value is at most 100', type: 'value_error' }] },
    'query.limit: ensure this value is at most 100 (value_error)',
  ],
  [
    'Django REST framework, fields',
    { status: ['"FOO" is not a valid choice.'] },
    'status: "FOO" is not a valid choice.',
  ],
  ['Django REST framework, no field', { non_field_errors: ['Unable to log in.'] }, 'Unable to log in.'],
  [
    'JSON:API',
    {
      errors: [
        {
          status: '422',
          source: { pointer: '/data/attributes/name' },
          title: 'Invalid Attribute',
          detail: 'must not be blank',
        },
      ],
    },
    '/data/attributes/name: must not be blank (Invalid Attribute)',
  ],
  [
    'Zendesk',
    {
      error: 'RecordInvalid',
      description: 'Record validation errors',
      details: { email: [{ type: 'blank', description: 'cannot be blank', error: 'BlankValue' }] },
    },
    'Record validation errors: email: cannot be blank (BlankValue) (RecordInvalid)',
  ],
  ['Jira', { errorMessages: ['The filter does not exist.'], errors: {} }, 'The filter does not exist.'],
  [
    'OData 3',
    { 'odata.error': { code: '', message: { lang: 'en-US', value: 'Resource not found' } } },
    'Resource not found',
  ],
  [
    'Apigee',
    { fault: { faultstring: 'Invalid ApiKey', detail: { errorcode: 'oauth.v2.InvalidApiKey' } } },
    'Invalid ApiKey: oauth.v2.InvalidApiKey',
  ],
  ['WeChat', { errcode: 40001, errmsg: 'invalid credential' }, 'invalid credential (40001)'],
  [
    'an envelope with its own message',
    { base_resp: { status_code: 1004, status_msg: 'login fail' } },
    'login fail',
  ],
  ['Yii, fields', [{ field: 'email', message: 'Email cannot be blank.' }], 'Email cannot be blank.'],
  [
    'API Platform',
    { '@type': 'hydra:Error', 'hydra:title': 'An error occurred', 'hydra:description': 'Item not found' },
    'Item not found (An error occurred)',
  ],
  [
    'NestJS',
    {
      statusCode: 400,
      message: ['limit must be a number', 'limit must be at most 100'],
      error: 'Bad Request',
    },
    'limit must be a number; limit must be at most 100 (Bad Request)',
  ],
  ['CouchDB', { error: 'not_found', reason: 'missing' }, 'missing (not_found)'],
  [
    'Okta',
    { errorCode: 'E0000011', errorSummary: 'Invalid token provided', errorLink: 'E0000011', errorCauses: [] },
    'Invalid token provided (E0000011)',
  ],
  [
    'Strapi',
    { data: null, error: { status: 403, name: 'ForbiddenError', message: 'No such role', details: {} } },
    'No such role (ForbiddenError)',
  ],
  [
    'QuickBooks',
    {
      Fault: {
        Error: [{ Message: 'AuthenticationFailed', Detail: 'Token revoked', code: '3200' }],
        type: 'AUTHENTICATION',
      },
    },
    'AuthenticationFailed: Token revoked (3200)',
  ],
  [
    'Calendly',
    {
      title: 'Invalid Argument',
      message: 'The supplied parameters are invalid.',
      details: [{ parameter: 'count', message: 'must be at most 100' }],
    },
    'The supplied parameters are invalid: count: must be at most 100 (Invalid Argument)',
  ],
  [
    'CoinMarketCap',
    { status: { error_code: 1001, error_message: 'This API Key is invalid.' } },
    'This API Key is invalid. (1001)',
  ],
  ['JSON inside a text', { message: '{"error":"quota","message":"used up"}' }, 'used up (quota)'],
  ['msg', { code: 500, msg: 'internal error', data: [] }, 'internal error'],
  ['reason', { reason: 'db timeout' }, 'db timeout'],
  ['info', { info: 'the account is closed' }, 'the account is closed'],
  [
    'plain text',
    'upstream connect error or disconnect/reset before headers\n',
    'upstream connect error or disconnect/reset before headers',
  ],
  ['text of several lines', 'no healthy\n  upstream', 'no healthy upstream'],
  ['nothing', '', undefined],
  ['a number', '[1]', undefined],
  ['bytes', '\0\u0001\uFFFD', undefined],
  ['another encoding', 'ung\uFFFDltig', 'ung\uFFFDltig'],
  ['links only', { info: 'https://example.com/docs' }, undefined],
];

it.each(bodies)('reads what %s says', (_, body, text) => {
  expect(said(typeof body === 'string' ? body : JSON.stringify(body))).toBe(text);
});

describe('a text from outside', () => {
  it('loses its secrets before it is cut', () => {
    const key = 'sk_live_0123456789abcdef';
    const body = { message: `${'x'.repeat(490)}${key}` };
    const text = problemText(body, (all) => all.replaceAll(key, '…cdef')) ?? '';
    expect(text).toBe(`${'x'.repeat(490)}…cdef`);
    expect(problemText({ message: 'y'.repeat(5000) }, (all) => all)).toHaveLength(500);
  });

  it('may nest without an end', () => {
    expect(said(`${'{"error":'.repeat(5000)}"deep"${'}'.repeat(5000)}`)).toBeUndefined();
  });

  it('of any length is read in linear time', () => {
    const started = performance.now();
    for (const piece of ['<title ', '<title>', '<p>', '{"a":', ' ', '<h1><', '&#'])
      said(piece.repeat(Math.floor(65_536 / piece.length)));
    expect(performance.now() - started).toBeLessThan(500);
  });
});
