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
      form: { kind: 'read-har', entry: 2, of: 3 },
      method: 'POST',
      url,
      path: '/leads?source=a%20b',
      rawHeaders: [
        ['host', 'hooks.example.com'],
        ['x-webhook-token', 's3cret'],
      ],
      at: Date.UTC(2026, 0, 15, 12, 0, 1),
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
    await expect(captureOf(both, { entry: 3 })).rejects.toMatchObject({
      problem: { kind: 'no-such-request', entry: 3, of: 'har', count: 2 },
    });
    await expect(captureOf(both, { credentialHeaders: [] })).rejects.toMatchObject({
      code: 'usage',
      problem: {
        kind: 'several-requests',
        of: 'har',
        first: [
          { entry: 1, place: expect.stringContaining('https://hooks.example.com') as string },
          { entry: 2, place: 'https://b.example/' },
        ],
        hasMore: false,
      },
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
    expect(lacks(apart)).toEqual([{ kind: 'har-without-body', stored: '3f2a.json' }]);
  });

  it('holds bytes in base64 where it says so, and says where its text lost some', async () => {
    const bytes = Buffer.from([0x7b, 0xff, 0x00, 0x7d]);
    const data = { mimeType: 'application/json', text: bytes.toString('base64'), encoding: 'base64' };
    expect((await captureOf(har([playwrightEntry(url, [], data, 4)]))).body).toEqual(bytes);
    const lost = { mimeType: 'application/json', text: bytes.toString('utf8') };
    expect(lacks(await captureOf(har([playwrightEntry(url, [], lost, 4)])))).toEqual([
      { kind: 'har-body-not-utf8' },
    ]);
    const shorter = { mimeType: 'application/json', text: '{}' };
    expect(lacks(await captureOf(har([playwrightEntry(url, [], shorter, 9)])))).toEqual([
      { kind: 'har-body-of-other-size', said: 9, held: 2 },
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
    expect(lacks(capture)).toEqual([{ kind: 'lines-end-in-lf' }]);
  });

  it('is put together from its chunks, and taken as it is where there are none', async () => {
    const chunked = [...head, 'Transfer-Encoding: chunked', '', ''].join('\r\n');
    expect(bodyOf(await captureOf(`${chunked}3\r\n{"a\r\na;x=y\r\n":1}\r\n\r\n\r\n\r\n0\r\n\r\n`))).toBe(
      '{"a":1}\r\n\r\n\r\n',
    );
    const decoded = await captureOf(`${chunked}{"id":1}`);
    expect([bodyOf(decoded), lacks(decoded)]).toEqual(['{"id":1}', [{ kind: 'body-not-chunked' }]]);
  });

  it('has a header that goes on in the next line, and the time of its Date', async () => {
    const capture = await captureOf(
      [...head, 'X-Long: a', '  b', 'Date: Thu, 15 Jan 2026 12:00:00 GMT', '', ''].join('\r\n'),
    );
    expect(capture.rawHeaders).toContainEqual(['X-Long', 'a b']);
    expect(capture.at).toBe(Date.UTC(2026, 0, 15, 12));
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
    expect(capture).toMatchObject({ rawHeaders: [], at: Date.UTC(2026, 0, 15, 12) });
    expect(lacks(capture)).toEqual([
      { kind: 'event-without-white-space' },
      { kind: 'event-without-headers' },
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
    expect(lacks(capture)).toContainEqual({ kind: 'event-of-several-leads', leads: 2 });
  });
});

it.each([
  ['nothing', '', 'capture-empty'],
  ['blanks', ' \n\n', 'capture-empty'],
  ['prose', 'the webhook did not work', 'capture-of-no-form'],
  ['HTML', '<!doctype html><p>curling', 'capture-of-no-form'],
  ['other JSON', '{"id":"lead_1"}', 'capture-of-other-json'],
  ['broken JSON', '{"log":{"entries":[', 'capture-breaks-json'],
  ['a HAR without requests', '{"log":{"entries":[]}}', 'har-empty'],
  ['a HAR with an entry that is none', '{"log":{"entries":[null]}}', 'har-entry-without-request'],
  ['an answer', 'HTTP/1.1 200 OK\r\n\r\n{}', 'capture-of-no-form'],
  ['a broken header', 'POST / HTTP/1.1\r\nno colon here\r\n\r\n', 'captured-line-no-header'],
  ['curl without a URL', 'curl -X POST', 'curl-command-without-url'],
  ['curl to another protocol', 'curl ftp://example.com/x', 'curl-command-not-http'],
])('%s cannot be read', async (_, content, kind) => {
  await expect(captureOf(content)).rejects.toMatchObject({
    code: 'invalid_data',
    problem: { kind },
  });
});

it('what PowerShell wrote in UTF-16 is read', async () => {
  const text = har([chromiumEntry(url, [token], lead)]);
  const capture = await captureOf(Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(text, 'utf16le')]));
  expect(bodyOf(capture)).toBe(lead);
});
