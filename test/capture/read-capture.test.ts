import { describe, expect, it } from 'vitest';
import { bodyOf, captureOf, lacks } from './capture-of.ts';
import { chromiumEntry, har, playwrightEntry } from './har.ts';

const token = { name: 'x-webhook-token', value: 's3cret' };
const url = 'https://hooks.example.com/leads?source=a%20b';
const lead = '{"id":"lead_1","name":"Zoë"}';

describe('a HAR', () => {
  it('of Chromium gives its only POST, without the pseudo-headers of HTTP/2', async () => {
    const capture = await captureOf(
      har([
        chromiumEntry('https://a.example/', []),
        chromiumEntry(url, [token], lead),
        chromiumEntry(url, []),
      ]),
    );
    expect(capture).toMatchObject({
      form: 'a HAR, entry 2 of 3',
      method: 'POST',
      url,
      path: '/leads?source=a%20b',
      rawHeaders: [
        ['host', 'hooks.example.com'],
        ['x-webhook-token', 's3cret'],
      ],
      capturedAt: Date.UTC(2026, 0, 15, 12, 0, 1),
      notes: [],
    });
    expect(bodyOf(capture)).toBe(lead);
  });

  it('with several POSTs gives the one with a credential, or the entry that is asked for, or says which there are', async () => {
    const both = har([
      chromiumEntry(url, [token], '{"id":1}'),
      chromiumEntry('https://b.example/', [], '{"id":2}'),
    ]);
    expect(bodyOf(await captureOf(both))).toBe('{"id":1}');
    expect(bodyOf(await captureOf(both, { entry: 2 }))).toBe('{"id":2}');
    await expect(captureOf(both, { entry: 3 })).rejects.toThrow('--entry 3: the HAR holds 2');
    await expect(captureOf(both, { credentialHeaders: [] })).rejects.toMatchObject({
      code: 'usage',
      message: expect.stringMatching(
        /^the HAR holds several .*: 1 \(https:\/\/hooks\.example\.com.*\), 2 \(https:\/\/b\.example\/\)$/,
      ) as string,
      hint: 'choose one with --entry N',
    });
  });

  it('of playwright-core is read, and says when it keeps the body elsewhere', async () => {
    const text = await captureOf(
      har([
        playwrightEntry(url, [token], { mimeType: 'application/json', text: lead }, Buffer.byteLength(lead)),
      ]),
    );
    expect([bodyOf(text), text.notes]).toEqual([lead, []]);
    const apart = await captureOf(
      har([
        playwrightEntry(url, [token], { mimeType: 'application/json', text: '', _file: '3f2a.json' }, 29),
      ]),
    );
    expect(apart.body).toBeUndefined();
    expect(lacks(apart)).toEqual([
      'the HAR keeps the body in another file, 3f2a.json: give it with --body FILE',
    ]);
  });

  it('holds bytes in base64 where it says so, and says where its text lost some', async () => {
    const bytes = Buffer.from([0x7b, 0xff, 0x00, 0x7d]);
    const data = { mimeType: 'application/json', text: bytes.toString('base64'), encoding: 'base64' };
    expect((await captureOf(har([playwrightEntry(url, [], data, 4)]))).body).toEqual(bytes);
    const lost = { mimeType: 'application/json', text: bytes.toString('utf8') };
    expect(lacks(await captureOf(har([playwrightEntry(url, [], lost, 4)])))).toEqual([
      'the HAR holds the body as text, and some of its bytes were not UTF-8: they are lost',
    ]);
    const shorter = { mimeType: 'application/json', text: '{}' };
    expect(lacks(await captureOf(har([playwrightEntry(url, [], shorter, 9)])))).toEqual([
      'the HAR says that the body had 9 bytes, and its text has 2: it does not hold the exact bytes',
    ]);
  });
});

describe('a raw HTTP request', () => {
  const head = ['POST /leads?a=1 HTTP/1.1', 'Host: hooks.example.com', 'X-Webhook-Token:  s3cret '];

  it('is read with its lines in CR LF, up to its content-length', async () => {
    const capture = await captureOf([...head, 'Content-Length: 5', '', 'ab\r\nc\n'].join('\r\n'));
    expect(capture).toMatchObject({
      method: 'POST',
      path: '/leads?a=1',
      url: 'https://hooks.example.com/leads?a=1',
      notes: [],
    });
    expect(capture.rawHeaders[1]).toEqual(['X-Webhook-Token', 's3cret']);
    expect(bodyOf(capture)).toBe('ab\r\nc');
  });

  it('keeps bytes that are not UTF-8', async () => {
    const bytes = Buffer.concat([
      Buffer.from(`${head.join('\r\n')}\r\n\r\n`),
      Buffer.from([0xff, 0xfe, 0x00]),
    ]);
    expect((await captureOf(bytes)).body).toEqual(Buffer.from([0xff, 0xfe, 0x00]));
  });

  it('keeps the last byte of a value in UTF-8 that ends like a no-break space', async () => {
    const { rawHeaders } = await captureOf([...head, 'X-City:  voilà \t', '', 'a'].join('\r\n'));
    expect(rawHeaders[2]).toEqual(['X-City', 'voil\u00c3\u00a0']);
  });

  it('with lines in LF says that those of the body may have been others', async () => {
    const capture = await captureOf(`${head.join('\n')}\n\n{\n"id": 1\n}`);
    expect(bodyOf(capture)).toBe('{\n"id": 1\n}');
    expect(lacks(capture)).toEqual([expect.stringContaining('end in LF alone')]);
  });

  it('is put together from its chunks, and taken as it is where there are none', async () => {
    const chunked = [...head, 'Transfer-Encoding: chunked', '', ''].join('\r\n');
    expect(bodyOf(await captureOf(`${chunked}3\r\n{"a\r\na;x=y\r\n":1}\r\n\r\n\r\n\r\n0\r\n\r\n`))).toBe(
      '{"a":1}\r\n\r\n\r\n',
    );
    const decoded = await captureOf(`${chunked}{"id":1}`);
    expect([bodyOf(decoded), lacks(decoded)]).toEqual([
      '{"id":1}',
      [expect.stringContaining('chunked and is not')],
    ]);
  });

  it('has a header that goes on in the next line, and the time of its Date', async () => {
    const capture = await captureOf(
      [...head, 'X-Long: a', '  b', 'Date: Thu, 15 Jan 2026 12:00:00 GMT', '', ''].join('\r\n'),
    );
    expect(capture.rawHeaders).toContainEqual(['X-Long', 'a b']);
    expect(capture.capturedAt).toBe(Date.UTC(2026, 0, 15, 12));
  });
});

describe('what our own commands print', () => {
  const event = (verdict: string, lead: string): string =>
    `{"type":"delivery","receivedAt":"2026-01-15T12:00:00.000Z","verdict":"${verdict}","reason":null,"status":200,"leadId":"lead_1","lead":${lead}}`;

  it('a line of listen holds the lead in its own bytes, and says what it does not hold', async () => {
    const lines = [
      '{"type":"listening"}',
      event('accepted', '{"id":"lead_1","n":1.50,"s":"\\u00eb \\"lead\\":"}'),
      '',
    ];
    const capture = await captureOf(lines.join('\n'));
    expect(bodyOf(capture)).toBe('{"id":"lead_1","n":1.50,"s":"\\u00eb \\"lead\\":"}');
    expect(capture).toMatchObject({ rawHeaders: [], capturedAt: Date.UTC(2026, 0, 15, 12) });
    expect(lacks(capture)).toEqual([
      expect.stringContaining("'leads verify --id' reads that from the inbox"),
      expect.stringContaining('an event holds no headers'),
    ]);
    expect((await captureOf(event('rejected', 'null'))).body).toBeUndefined();
  });

  it('a line of a delivery with several leads holds one of them, and no body', async () => {
    const line = event('accepted', '{"id":"lead_1"}').replace(
      '"lead":',
      '"leadNumber":1,"leadCount":2,"lead":',
    );
    const capture = await captureOf(line);
    expect(capture.body).toBeUndefined();
    expect(lacks(capture)).toContainEqual(expect.stringContaining('the delivery held 2 leads'));
  });
});

it.each([
  ['nothing', '', 'it is empty'],
  ['blanks', ' \n\n', 'it is empty'],
  ['prose', 'the webhook did not work', 'it has none of the known forms'],
  ['HTML', '<!doctype html><p>curling', 'it has none of the known forms'],
  ['other JSON', '{"id":"lead_1"}', 'it is JSON, and neither a HAR'],
  ['broken JSON', '{"log":{"entries":[', 'it begins as JSON and is none'],
  ['a HAR without requests', '{"log":{"entries":[]}}', 'the HAR holds no request'],
  [
    'a HAR with an entry that is none',
    '{"log":{"entries":[null]}}',
    'entry 1 of the HAR has no method or no URL',
  ],
  ['an answer', 'HTTP/1.1 200 OK\r\n\r\n{}', 'it has none of the known forms'],
  ['a broken header', 'POST / HTTP/1.1\r\nno colon here\r\n\r\n', 'line 2 of the request is no header'],
  ['curl without a URL', 'curl -X POST', 'the curl command names no URL'],
  ['curl to another protocol', 'curl ftp://example.com/x', 'the curl command calls no URL of HTTP'],
])('%s cannot be read', async (_, content, fault) => {
  await expect(captureOf(content)).rejects.toMatchObject({
    code: 'invalid_data',
    message: expect.stringContaining(`the capture cannot be read: ${fault}`) as string,
    hint: expect.stringContaining("or --body FILE with --header 'Name: value'") as string,
  });
});

it('what PowerShell wrote in UTF-16 is read', async () => {
  const text = har([chromiumEntry(url, [token], lead)]);
  const capture = await captureOf(Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(text, 'utf16le')]));
  expect(bodyOf(capture)).toBe(lead);
});
