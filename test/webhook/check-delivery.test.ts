import { expect, test } from 'vitest';
import type { LeadAt } from '../../src/lead/read-leads.ts';
import { Secret } from '../../src/secret.ts';
import { checkDelivery } from '../../src/webhook/check-delivery.ts';
import { schemeNamed } from '../../src/webhook/scheme-registry.ts';
import { delivered, outgoing } from './delivery.ts';

const now = Date.UTC(2026, 0, 15, 12);
const token = schemeNamed('token');
const key = token.key(new Secret('a-shared-token'));
const policy = { path: undefined, scheme: token, keys: [key] };

test('a delivery with the token is a lead', () => {
  const found = checkDelivery(delivered(token.sign(outgoing(), key, now)), policy, now);
  expect(found).toMatchObject({ kind: 'leads', leads: [{ leadId: 'lead_1', warnings: [] }], key: 0 });
});

test.each([
  ['X-Shopify-Topic', 'customers/delete'],
  ['x-wc-webhook-topic', 'customer.deleted'],
  ['X-Event', 'LeadDeleted'],
])('what the header %s: %s calls a deletion is no lead, unless a person says where it is', (name, value) => {
  const got = delivered([...token.sign(outgoing(), key, now), [name, value]]);
  expect(checkDelivery(got, { ...policy, leadAtNames: { option: '--lead-at' } }, now)).toMatchObject({
    status: 400,
    detail: `the header ${name.toLowerCase()} says that the lead was deleted; --lead-at '' takes it all the same`,
  });
  expect(checkDelivery(got, { ...policy, leadAt: [] }, now).kind).toBe('leads');
});

test.each([
  ['X-Shopify-Topic', 'products/update'],
  ['X-GitHub-Event', 'discussion'],
  ['ce-type', 'com.example.order.created'],
])('an object without a person is no lead where the header %s says %s', (name, value) => {
  const deliver = (record: object, leadAt?: LeadAt, areTaken = false) => {
    const body = Buffer.from(JSON.stringify(record));
    const request = outgoing(body);
    const got = delivered([...token.sign(request, key, now), [name, value]], request);
    const place = { ...policy, leadAt, leadAtNames: { option: '--lead-at' } };
    return areTaken
      ? checkDelivery(got, place, now, { areTaken, option: '' })
      : checkDelivery(got, place, now);
  };
  const product = { id: 'P-1', category: 'solar' };
  expect(deliver(product)).toMatchObject({
    status: 400,
    detail: `the header ${name.toLowerCase()} says that the body is about something else than a lead; --lead-at '' takes it all the same`,
  });
  expect(deliver(product, []).kind).toBe('leads');
  expect(deliver(product, undefined, true)).toMatchObject({ kind: 'other', reason: 'other_event' });
  expect(deliver({ ...product, owner: '+1 650 555 0123' }, undefined, true)).toMatchObject({ status: 400 });
  expect(deliver({ ...product, contact: { name: 'Ada' } }).kind).toBe('leads');
});

test('a header that names another event says nothing of a deletion', () => {
  const got = delivered([...token.sign(outgoing(), key, now), ['x-shopify-topic', 'customers/create']]);
  expect(checkDelivery(got, policy, now).kind).toBe('leads');
});

test('authentication comes before every check that parses the body', () => {
  const forged = { ...delivered([['x-webhook-token', 'wrong']]), body: Buffer.from('{') };
  expect(checkDelivery(forged, policy, now)).toMatchObject({ status: 401, reason: 'wrong_credential' });
});

test('path and method are checked first', () => {
  const got = delivered([]);
  expect(checkDelivery(got, { ...policy, path: '/other' }, now)).toMatchObject({ status: 404 });
  expect(checkDelivery({ ...got, method: 'GET' }, policy, now)).toMatchObject({ status: 405 });
  expect(checkDelivery(got, { ...policy, path: '/leads' }, now)).toMatchObject({ status: 401 });
});

test('the content type is checked before the signed time', () => {
  const slack = schemeNamed('slack');
  const signer = slack.key(new Secret('s'));
  const headers = slack.sign(outgoing(), signer, now - 600_000);
  const guard = { path: undefined, scheme: slack, keys: [signer] };
  const text = { ...delivered(headers), rawHeaders: [['content-type', 'text/plain'], ...headers] as const };
  expect(checkDelivery(text, guard, now)).toMatchObject({ status: 415, reason: 'wrong_content_type' });
  expect(checkDelivery(delivered(headers), guard, now)).toMatchObject({
    status: 401,
    reason: 'stale_timestamp',
  });
});

test('a lead that deviates from the specification is accepted with a warning', () => {
  const message = outgoing(Buffer.from('\ufeff{"id":7,"contact":"Ada"}'));
  const found = checkDelivery(delivered(token.sign(message, key, now), message), policy, now);
  expect(found).toMatchObject({ kind: 'leads', leads: [{ leadId: '7' }] });
  expect(found.kind === 'leads' && found.leads[0]?.warnings.join()).toContain('contact');
});

test.each([
  ['{"id":"a"', 'not_json'],
  ['[]', 'not_a_lead'],
  ['{}', 'not_a_lead'],
  ['{"id":"a","id":"b"}', 'not_a_lead'],
])('%s: %s', (body, reason) => {
  const message = outgoing(Buffer.from(body));
  const found = checkDelivery(delivered(token.sign(message, key, now), message), policy, now);
  expect(found).toMatchObject({ status: 400, reason });
});

test.each<[LeadAt, string, object]>([
  ['auto', '[{"id":"a","category":"x"},{"id":7}]', { leads: [{ leadId: 'a' }, { leadId: '7' }] }],
  ['auto', '{"event":"new","lead":{"id":"a","category":"x"}}', { leads: [{ leadId: 'a' }] }],
  [['data'], '{"id":"b","category":"y","data":{"id":"a"}}', { leads: [{ leadId: 'a' }] }],
  [
    ['data'],
    '{"id":"b"}',
    { reason: 'not_a_lead', detail: 'there is nothing at /data, where --lead-at says that the lead is' },
  ],
  [['data'], '{"data":{"id":"a"}', { reason: 'not_json' }],
  ['auto', '{"x":{"id":1,"category":""},"y":{"id":2,"category":""}}', { reason: 'not_a_lead' }],
  [
    'auto',
    `[{"id":1,"category":""},{"id":"${'x'.repeat(513)}"}]`,
    { detail: "lead 2: 'id' is longer than 512 bytes" },
  ],
  [[], `[${'{"id":1},'.repeat(1000)}{"id":2}]`, { status: 413, reason: 'too_large' }],
])('with the lead at %j, %.60s is checked', (leadAt, body, expected) => {
  const message = outgoing(Buffer.from(body));
  const got = delivered(token.sign(message, key, now), message);
  expect(checkDelivery(got, { ...policy, leadAt, leadAtNames: { saidBy: '--lead-at' } }, now)).toMatchObject(
    expected,
  );
});
