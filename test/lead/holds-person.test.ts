import { expect, it } from 'vitest';
import type { Json } from '../../src/json/exact.ts';
import { holdsPerson } from '../../src/lead/holds-person.ts';

const base64 = (json: Json): string => Buffer.from(JSON.stringify(json)).toString('base64');

it.each<[what: string, body: Json]>([
  ['a category', { category: 'solar', model: 'S3' }],
  ['the id of a lead', { crm_lead_id: 5 }],
  ['the id of a lead, with a capital', { data: [{ leadUuid: 'x' }] }],
  ['the id of a contact', { contactId: 5 }],
  ['ids of prospects', { prospect_ids: [5] }],
  ['the id of an event about a lead', { event: 'lead.created', id: 'L-1' }],
  ['the id inside an event about a lead', { type: 'lead.created', data: { id: 'L-1' } }],
  ['the id of a topic', { topic: 'leads/create', resource_id: 'L-1' }],
  ['HubSpot, ids of objects', [{ eventId: 1, objectId: 5, subscriptionType: 'contact.creation' }]],
  ['Directus, keys of a collection', { event: 'leads.items.delete', keys: ['L-1'], collection: 'leads' }],
  ['a contact, with a capital', { Contact: { Name: 'Ada' } }],
  ['an e-mail address in a text', { by: 'Ada <ada@example.com>' }],
  ['an e-mail address as a name', { members: { 'ada@example.com': true } }],
  ['an e-mail address in a query', { raw: 'email=ada%40example.com&x=1' }],
  ['an e-mail address in other letters', { from: 'ада@пример.рф' }],
  ['a number with a country', { from: '+1 (650) 555-0123' }],
  ['the same with zeros', { from: '004917012345678' }],
  ['a link to a number', { link: 'tel:6505550123' }],
  ['Twilio', { From: 'whatsapp:+14155238886' }],
  ['a number with brackets', { from: '(650) 555-0123' }],
  ['a number with hyphens', { from: '650-555-0123' }],
  ['a number in a text', { text: 'Please call Ada at (650) 555-0123, today.' }],
  ['a number with a country in a text', { text: 'Ada (+49 170 1234567) called' }],
  ['a number in a form', { raw: 'name=Ada&phone=6505550123' }],
  ['a number by its name', { cell: 6505550123 }],
  ['the number of a caller', { caller_number: '6505550123' }],
  ['a number with an extension', { phone: '650 555 0123 ext. 12' }],
  ['Google, a lead form', { user_column_data: [{ column_id: 'PHONE_NUMBER', string_value: '6505550123' }] }],
  ['Meta, a lead form', { field_data: [{ name: 'phone_number', values: ['6505550123'] }] }],
  ['Tally', { fields: [{ label: 'Phone', type: 'INPUT_PHONE_NUMBER', value: '6505550123' }] }],
  ['Pub/Sub', { message: { data: base64({ email: 'ada@example.com' }), messageId: '1' } }],
  ['Amazon SNS', { Type: 'Notification', Message: JSON.stringify({ cell: '6505550123' }) }],
])('finds %s', (_, body) => {
  expect(holdsPerson(body)).toBe(true);
});

it.each<[what: string, body: Json]>([
  ['a ping', { event: 'ping', hook: { id: 5, events: ['lead.created', 'lead.deleted'] } }],
  ['an invoice', { id: 'e1', type: 'invoice.paid', data: { id: 'in_1', number: '0012-2026', amount: 7 } }],
  [
    'times and addresses',
    { at: '2026-11-20T10:00:00Z', day: '2026-11-20', ip: '192.168.100.200', ms: 1700000000000 },
  ],
  ['numbers in a text', { text: 'Order 2026-11-20-0001: 1,234.50 of 100000 +0100, version 1.22.333.4444' }],
  ['a number of calls', { phone: 'unknown', phones: 3, cancelled: '6505550123' }],
  [
    'ids of something else',
    { eventId: 'e1', order_id: 6505550123, uuid: '00f5a7c2-0000-4000-8000-000000000001' },
  ],
  ['a product with a category', { type: 'product.updated', data: { id: 'P-1', category: 'solar' } }],
  ['an import of leads without an id', { event: 'leads.imported', count: 5 }],
  ['a text in Base64', { message: { data: 'eyJhIjoxfQ==' }, notes: 'We are back' }],
  ['null', null],
])('finds nobody in %s', (_, body) => {
  expect(holdsPerson(body)).toBe(false);
});

it('takes little time for a megabyte', () => {
  const started = performance.now();
  for (const text of ['@', '%40', '[', ' ', '{"a":', 'eyJ', '+1', '+(', '1 ', '111-', 'tel ', 'leadId'])
    expect(
      holdsPerson({ text: text.repeat(1_000_000 / text.length), 'phone number': '1'.repeat(1_000_000) }),
    ).toBe(false);
  expect(performance.now() - started).toBeLessThan(5000);
});
