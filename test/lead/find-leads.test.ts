import { describe, expect, it } from 'vitest';
import { formatPointer, type Json } from '../../src/json/exact.ts';
import { findLeads } from '../../src/lead/find-leads.ts';

const leadNamed = (id: string) => ({
  id,
  category: 'solar',
  contact: { name: 'Ada Example', email: 'ada@example.com', phone: '+1 650 555 0123' },
  metadata: { source: 'web' },
  createdAt: '2026-11-20T10:00:00Z',
});
const lead = leadNamed('L-1');
const former = { ...lead, category: 'dental' };
/** With fewer fields of the specification, as services send that have their own. */
const related = { id: 'L-1', category: 'solar', score: 7 };
/** Something else that has a category. */
const product = { id: 'P-1', category: 'solar', price: 7 };
/** A person with an id, as customer services send one. */
const person = { id: 'C-1', firstName: 'Ada', email: 'ada@example.com', phone: '+1 650 555 0123' };

/** The place of the lead or leads, or why there is none, with the places that a person may choose from. */
function placeIn(body: Json, idName = 'id'): string {
  const reading = findLeads(body, idName);
  const pointer = (path: readonly string[]): string => (path.length === 0 ? 'the body' : formatPointer(path));
  if (reading.kind === 'one') return pointer(reading.path);
  const { kind, paths } = reading;
  if (kind === 'none') return 'none';
  if ('member' in reading)
    return `${kind === 'deletion' ? 'deleted' : 'something else'}, says ${reading.member}`;
  return `${kind}: ${paths.map(pointer).join(' ')}`;
}

describe('the lead of a body as a service sends it', () => {
  it.each<[service: string, body: Json, place: string]>([
    ['a bare lead', lead, 'the body'],
    ['a lead with an id alone', { id: 'lead_1' }, 'the body'],
    ['a lead with fields of its own', { id: 1, email: 'ada@example.com', owner: { id: 5 } }, 'the body'],
    [
      'a lead that holds an id of its campaign',
      { ...lead, campaign: { id: 9, category: 'ads' } },
      'the body',
    ],
    ['a lead whose contact has an id', { ...lead, contact: { ...lead.contact, id: 3 } }, 'the body'],
    ['an array, as automation tools send batches', [lead, leadNamed('L-2')], '/*'],
    ['Standard Webhooks', { type: 'lead.created', timestamp: '2026-11-20T10:00:00Z', data: lead }, '/data'],
    [
      'CloudEvents',
      { specversion: '1.0', id: 'e1', type: 'lead.created', source: '/x', data: lead },
      '/data',
    ],
    [
      'Hasura',
      { id: 'e1', created_at: 'x', event: { op: 'INSERT', data: { old: null, new: lead } } },
      '/event/data/new',
    ],
    [
      'Hasura, an update',
      { id: 'e1', event: { op: 'UPDATE', data: { old: former, new: lead } } },
      '/event/data/new',
    ],
    ['Supabase', { type: 'INSERT', table: 'leads', record: lead, old_record: null }, '/record'],
    ['Supabase, an update', { type: 'UPDATE', record: lead, old_record: former }, '/record'],
    [
      'NocoDB',
      { id: 'e1', type: 'records.after.insert', data: { table_id: 't', rows: [lead] } },
      '/data/rows/*',
    ],
    ['NocoDB, an update', { id: 'e1', data: { previous_rows: [former], rows: [lead] } }, '/data/rows/*'],
    ['Directus', { event: 'items.create', accountability: null, payload: lead, key: 1 }, '/payload'],
    ['Strapi', { event: 'entry.create', createdAt: 'x', model: 'lead', entry: lead }, '/entry'],
    ['Debezium', { payload: { before: former, after: lead, op: 'u', source: { id: 5 } } }, '/payload/after'],
    ['MongoDB', { _id: { _data: '8' }, operationType: 'insert', fullDocument: lead }, '/fullDocument'],
    ['Appwrite and PocketBase', { action: 'create', record: lead, auth: { id: 'u1' } }, '/record'],
    [
      'Vercel and Stripe',
      { id: 'e1', object: 'event', type: 'lead.created', data: { object: lead } },
      '/data/object',
    ],
    ['Stripe, an update', { id: 'e1', data: { object: lead, previous_attributes: former } }, '/data/object'],
    ['Pipedrive 1', { meta: { id: 7, action: 'updated' }, current: lead, previous: former }, '/current'],
    ['Pipedrive 2', { data: lead, previous: { category: 'dental' }, meta: { id: 7 } }, '/data'],
    [
      'Close',
      { subscription_id: 's', event: { id: 'e', action: 'created', data: lead, previous_data: {} } },
      '/event/data',
    ],
    ['Intercom', { type: 'notification_event', id: 'n1', data: { type: 'x', item: lead } }, '/data/item'],
    ['EventBridge', { version: '0', id: 'e1', 'detail-type': 'Lead', source: 'a', detail: lead }, '/detail'],
    [
      'Meta, with the leads inside',
      { object: 'page', entry: [{ id: 1, changes: [{ field: 'l', value: lead }] }] },
      '/entry/*/changes/*/value',
    ],
    ['n8n', [{ headers: {}, params: {}, query: {}, body: lead }], '/*/body'],
    ['Make', { bundle: { data: lead }, executionId: 'x' }, '/bundle/data'],
    [
      'Sanity and GitHub',
      { action: 'created', lead, repository: { id: 5, name: 'r' }, sender: { id: 6 } },
      '/lead',
    ],
    [
      'JSON:API',
      { data: { type: 'leads', id: 'L-1', attributes: { category: 'solar', createdAt: 'x' } } },
      '/data',
    ],
    ['JSON:API, several', { data: [{ type: 'leads', id: '1', attributes: { category: 'a' } }] }, '/data/*'],
    [
      'GraphQL subscriptions',
      { id: '1', type: 'next', payload: { data: { leadCreated: lead } } },
      '/payload/data/leadCreated',
    ],
    ['Zendesk', { account_id: 1, id: 'e1', event: {}, detail: lead, subject: 'lead:1' }, '/detail'],
    [
      'Segment',
      { messageId: 'm', type: 'track', event: 'Lead', properties: lead, context: {} },
      '/properties',
    ],
    [
      'Salesforce, changes',
      { data: { schema: 's', payload: lead, event: { replayId: 6 } } },
      '/data/payload',
    ],
    ['an envelope with a batch', { id: 'evt_5', items: [lead, leadNamed('L-2')] }, '/items/*'],
    ['an envelope with a creation time', { id: 'evt_7', createdAt: 'x', payload: lead }, '/payload'],
    ['an envelope, with fewer fields', { event: 'lead.created', data: related }, '/data'],
    ['a lead beside what is related to it', { lead, campaign: { id: 4, category: 'ads' } }, '/lead'],
    [
      'DynamoDB streams, an update',
      {
        Records: [
          {
            eventID: '1',
            eventName: 'MODIFY',
            dynamodb: { NewImage: lead, OldImage: former, Keys: { id: 5 } },
          },
        ],
      },
      '/Records/*/dynamodb/NewImage',
    ],
    [
      'MongoDB, an update',
      { _id: {}, operationType: 'update', fullDocument: lead, fullDocumentBeforeChange: former },
      '/fullDocument',
    ],
    ['Cloud Firestore', { oldValue: {}, value: lead, updateMask: {} }, '/value'],
    ['a change with its original', { original: former, current: lead }, '/current'],
    ['a change with images', { preImage: former, postImage: lead }, '/postImage'],
    ['a lead with what it was before', { lead, history: [former, former] }, '/lead'],
    ['a list with cursors', { leads: [lead], before: null, after: null, error: null }, '/leads/*'],
    ['a lead beside data that is empty', { lead, data: null, document: null }, '/lead'],
    ['a preview', { preview: lead }, '/preview'],
    ['a lead that was restored', { event: 'lead.undeleted', data: lead }, '/data'],
    ['a lead that was never deleted', { data: { ...lead, deleted: false, deleted_at: null } }, '/data'],
    ['a lead whose flag of a deletion is 0', { data: { ...lead, is_deleted: 0 } }, '/data'],
    ['a lead beside what it was', { ...related, previous: { ...related, score: 6 } }, 'the body'],
    ['Debezium, flat', { ...lead, __deleted: 'false', __op: 'c' }, 'the body'],
    ['a lead about a deletion', { ...lead, type: 'removal', status: 'deleted' }, 'the body'],
    [
      'Hasura, with a trigger of such a name',
      { id: 'e1', trigger: { name: 'lead_delete' }, event: { op: 'INSERT', data: { old: null, new: lead } } },
      '/event/data/new',
    ],
    ['Airtable', { id: 'rec1', createdTime: 'x', fields: { Email: 'ada@example.com' } }, 'the body'],
    ['Netlify', { id: '5f', email: 'ada@example.com', data: { email: 'ada@example.com' } }, 'the body'],
    [
      'an event that holds a person named lead',
      { event: 'x', lead: { id: 1, email: 'ada@example.com' }, user: { id: 2, email: 'bob@example.com' } },
      '/lead',
    ],
    [
      'a batch of bodies',
      [
        { id: 1, email: 'ada@example.com' },
        { id: 2, phone: null },
      ],
      '/*',
    ],
    [
      'JSON:API, with what the lead is related to',
      {
        data: {
          ...{ type: 'leads', id: 'L-1', attributes: { category: 'solar' } },
          relationships: { owner: { data: { type: 'users', id: '9' } } },
        },
        included: [{ type: 'users', id: '9', attributes: { email: 'bob@example.com' } }],
      },
      '/data',
    ],
    [
      'Azure Event Grid',
      [{ topic: '/sub', subject: 'leads/1', id: 'e1', eventType: 'Crm.LeadCreated', data: lead }],
      '/*/data',
    ],
    ['Kafka, as its REST proxy has records', { records: [{ key: 'L-1', value: lead }] }, '/records/*/value'],
    [
      'CockroachDB',
      { payload: [{ after: lead, key: ['L-1'], topic: 'leads' }], length: 1 },
      '/payload/*/after',
    ],
    [
      'Sequin',
      { record: lead, changes: null, action: 'insert', metadata: { table_name: 'leads' } },
      '/record',
    ],
    ['Maxwell', { database: 'crm', table: 'leads', type: 'insert', ts: 1, data: lead }, '/data'],
    ['AWS DMS', { data: lead, metadata: { 'record-type': 'data', operation: 'load' } }, '/data'],
    [
      'Qlik Replicate',
      { magic: 'atMSG', message: { headers: { operation: 'INSERT' }, data: lead, beforeData: null } },
      '/message/data',
    ],
    ['Ghost', { member: { current: lead, previous: {} } }, '/member/current'],
    [
      'Microsoft Dynamics',
      { MessageName: 'Create', PrimaryEntityName: 'lead', InputParameters: [{ key: 'Target', value: lead }] },
      '/InputParameters/*/value',
    ],
    ['HighLevel', { type: 'ContactCreate', locationId: 'loc', ...person }, 'the body'],
    ['BossCart', { ...person, event_id: 98146, contact_id: 41 }, 'the body'],
    [
      'RevenueHero',
      { id: 'fa8', type: 'form_session', created_at: 'x', prospect: { email: 'ada@example.com' }, crm: {} },
      'the body',
    ],
    ['a lead that was lost', { event: 'lead.lost', data: lead }, '/data'],
    ['a lead in the archive of its service', { ...lead, archived: false, status: 'archived' }, 'the body'],
    ['a lead whose category has no text', { id: 'L-1', category: { name: 'solar' } }, 'the body'],
    [
      'a lead without a contact',
      { ...related, type: 'residential', model: 'S3', topic: 'new-roof' },
      'the body',
    ],
    ['a lead without a contact from a form', { event: 'form.submitted', data: related }, '/data'],
    [
      'a lead without a contact, of a table',
      { type: 'INSERT', table: 'crm_leads', record: related },
      '/record',
    ],
    ['an order that is called a lead', { event: 'order.created', lead: related }, '/lead'],
    [
      'an order with a contact',
      { event: 'order.created', data: { ...related, contact: { name: 'Ada' } } },
      '/data',
    ],
  ])('%s', (_, body, place) => {
    expect(placeIn(body)).toBe(place);
  });
});

describe('no lead is taken from', () => {
  it.each<[service: string, body: Json, reason: string]>([
    [
      'Supabase, a deletion',
      { type: 'DELETE', table: 'leads', record: null, old_record: lead },
      'past: /old_record',
    ],
    ['Pipedrive, a deletion', { event: 'deleted.lead', current: null, previous: lead }, 'past: /previous'],
    ['Debezium, a deletion', { payload: { before: lead, after: null, op: 'd' } }, 'past: /payload/before'],
    [
      'Hasura, a deletion',
      { id: 'e1', event: { op: 'DELETE', data: { old: lead, new: null } } },
      'past: /event/data/old',
    ],
    [
      'Close, a deletion',
      { event: { id: 'e', action: 'deleted', data: null, previous_data: lead } },
      'past: /event/previous_data',
    ],
    [
      'an event of a deletion that holds the lead',
      { id: 'e1', type: 'lead.deleted', data: lead },
      'deleted, says /type',
    ],
    ['GitHub, a deletion', { action: 'deleted', lead, sender: { id: 6 } }, 'deleted, says /action'],
    ['two leads beside each other', { lead, referrer: leadNamed('L-2') }, 'several: /lead /referrer'],
    [
      'a lead that holds another one',
      { ...lead, duplicateOf: leadNamed('L-2') },
      'several: the body /duplicateOf',
    ],
    ['two arrays of leads', { created: [lead], updated: [lead] }, 'several: /created/* /updated/*'],
    [
      'an envelope with a category and what it holds',
      { id: 'e', category: 'x', data: related },
      'several: the body /data',
    ],
    [
      'an event whose object has other fields',
      { id: 'e1', data: { id: 'x', name: 'Ada' } },
      'several: the body /data',
    ],
    [
      'DynamoDB streams, a deletion',
      { Records: [{ eventName: 'REMOVE', dynamodb: { OldImage: lead } }] },
      'past: /Records/*/dynamodb/OldImage',
    ],
    [
      'MongoDB, a deletion',
      { operationType: 'delete', documentKey: {}, fullDocumentBeforeChange: lead },
      'past: /fullDocumentBeforeChange',
    ],
    ['a former lead', { former: lead }, 'past: /former'],
    ['a lead beside an empty present', { record: null, snapshot: lead }, 'past: /snapshot'],
    ['the same with other names', { change: { current: null, state: lead } }, 'past: /change/state'],
    ['a lead that was dropped', { kept: null, dropped: lead }, 'past: /dropped'],
    ['a lead that somebody deleted', { deleted: lead, deletedBy: { id: 5 } }, 'past: /deleted'],
    ['what was removed', { event: 'list.changed', removed: [lead] }, 'past: /removed/*'],
    ['Bitrix', { event: 'ONCRMLEADDELETE', data: { FIELDS: lead } }, 'deleted, says /event'],
    ['a deletion in camel case', { type: 'LeadDeletedEvent', data: lead }, 'deleted, says /type'],
    [
      'Microsoft Graph',
      { value: [{ changeType: 'deleted', resourceData: lead }] },
      'deleted, says /value/*/changeType',
    ],
    ['Calendly and others', { triggerEvent: 'LEAD_DELETED', payload: lead }, 'deleted, says /triggerEvent'],
    ['Jira', { webhookEvent: 'lead_deleted', lead }, 'deleted, says /webhookEvent'],
    [
      'Pipedrive 2, a deletion',
      { meta: { action: 'delete', id: 7 }, data: lead },
      'deleted, says /meta/action',
    ],
    [
      'Salesforce, a deletion',
      { payload: { ChangeEventHeader: { changeType: 'DELETE' }, record: lead } },
      'deleted, says /payload/ChangeEventHeader/changeType',
    ],
    [
      'n8n, a deletion',
      [{ headers: { 'x-event': 'lead.deleted' }, body: lead }],
      'deleted, says /*/headers/x-event',
    ],
    [
      'Salesforce, a deletion with the record beside its header',
      { payload: { ChangeEventHeader: { changeType: 'DELETE' }, ...lead } },
      'deleted, says /payload/ChangeEventHeader/changeType',
    ],
    ['a GraphQL subscription to deletions', { data: { onDeleteLead: lead } }, 'past: /data/onDeleteLead'],
    [
      'Google Cloud, attributes of a message',
      { message: { attributes: { eventType: 'OBJECT_DELETE' }, data: lead } },
      'deleted, says /message/attributes/eventType',
    ],
    ['a command', { command: 'delete', lead }, 'deleted, says /command'],
    ['a log of changes', { op: 'D', data: lead }, 'deleted, says /op'],
    ['Debezium, a flat deletion', { ...lead, __deleted: 'true' }, 'deleted, says /__deleted'],
    [
      'a record that was deleted',
      { data: { ...lead, deleted_at: '2026-11-20' } },
      'deleted, says /data/deleted_at',
    ],
    ['Stripe, a deleted object', { id: 'L-1', object: 'lead', deleted: true }, 'deleted, says /deleted'],
    ['a flat event of a deletion', { ...lead, event: 'lead.deleted' }, 'deleted, says /event'],
    [
      'a batch of which one is a deletion',
      [
        { action: 'created', lead },
        { action: 'deleted', lead: leadNamed('L-2') },
      ],
      'deleted, says /*/action',
    ],
    [
      'a batch of events of two kinds',
      [{ data: lead }, { type: 'ping', data: { id: 'p' } }],
      'mixed: /*/data',
    ],
    ['a batch of an event and a lead', [{ id: 'e1', type: 'ping' }, lead], 'mixed: /*'],
    ['a batch of a lead and an event', [lead, { id: 'e1', type: 'ping' }], 'mixed: /*'],
    [
      'an event with a category of its own',
      { id: 'e1', category: 'crm', event: 'lead.created', data: { id: 'L-1', email: 'ada@example.com' } },
      'several: the body /data',
    ],
    [
      'an event with metadata of its own',
      { id: 'e1', category: 'crm', createdAt: 'x', metadata: {}, data: { id: 'L-1', name: 'Ada' } },
      'several: the body /data',
    ],
    [
      'an event with an e-mail address of its own',
      { id: 'e1', user_email: 'bob@example.com', data: { id: 'L-1', name: 'Ada' } },
      'several: the body /data',
    ],
    [
      'an event of a contact',
      {
        id: 'e1',
        event: 'contact.created',
        createdAt: 'x',
        contact: { id: 'C-1', email: 'ada@example.com' },
      },
      'several: the body /contact',
    ],
    [
      'an event whose lead has an id of another name',
      { id: 'e1', data: { lead_id: 'L-1', category: 'solar', contact: { email: 'ada@example.com' } } },
      'several: the body /data',
    ],
    [
      'an event with a category whose lead has an id of another name',
      { id: 'e1', category: 'crm', payload: { uuid: 'L-1', email: 'ada@example.com' } },
      'several: the body /payload',
    ],
    ['Prisma Pulse, a deletion', { action: 'delete', modelName: 'Lead', deleted: lead }, 'past: /deleted'],
    ['Sequin, a deletion', { record: lead, action: 'delete' }, 'deleted, says /action'],
    [
      'Maxwell, a deletion',
      { database: 'crm', table: 'leads', type: 'delete', data: lead },
      'deleted, says /type',
    ],
    ['Canal, a deletion', { data: [lead], isDdl: false, old: null, type: 'DELETE' }, 'deleted, says /type'],
    [
      'AWS DMS, a deletion',
      { data: lead, metadata: { 'record-type': 'data', operation: 'delete' } },
      'deleted, says /metadata/operation',
    ],
    [
      'Qlik Replicate, a deletion',
      { magic: 'atMSG', message: { headers: { operation: 'DELETE' }, data: lead, beforeData: null } },
      'deleted, says /message/headers/operation',
    ],
    ['Oracle GoldenGate, a deletion', { op_type: 'D', before: lead }, 'past: /before'],
    ['Oracle GoldenGate, rows', { op_type: 'D', row: lead }, 'deleted, says /op_type'],
    [
      'PostgreSQL, a deletion by wal2json',
      { action: 'D', table: 'leads', record: lead },
      'deleted, says /action',
    ],
    ['CockroachDB, a deletion', { payload: [{ after: null, before: lead }] }, 'past: /payload/*/before'],
    [
      'Azure Cosmos DB, a deletion',
      { current: null, previous: lead, metadata: { operationType: 'delete' } },
      'past: /previous',
    ],
    ['Flink, a deletion', { rowkind: '-D', data: lead }, 'deleted, says /rowkind'],
    ['Snowflake, a deletion', { ...lead, METADATA$ACTION: 'DELETE' }, 'deleted, says /METADATA$ACTION'],
    ['Estuary, a deletion', { ...lead, _meta: { op: 'd' } }, 'deleted, says /_meta/op'],
    ['Airbyte, a deletion', { ...lead, _ab_cdc_deleted_at: 'x' }, 'deleted, says /_ab_cdc_deleted_at'],
    ['CouchDB, a deletion', { ...lead, _deleted: true }, 'deleted, says /_deleted'],
    ['Notion, in the trash', { data: { ...lead, in_trash: true } }, 'deleted, says /data/in_trash'],
    ['HubSpot, an archived object', { ...lead, archived: true }, 'deleted, says /archived'],
    [
      'Microsoft Dynamics, a deletion',
      { MessageName: 'Delete', InputParameters: [{ key: 'Target', value: lead }] },
      'deleted, says /MessageName',
    ],
    ['Sanity, a deletion', { transition: 'disappear', result: lead }, 'deleted, says /transition'],
    [
      'Prisma 1, a deletion',
      { data: { Lead: { mutation: 'DELETED', node: lead } } },
      'deleted, says /data/Lead/mutation',
    ],
    ['Ghost, a deletion', { member: { current: {}, previous: lead } }, 'past: /member/previous'],
    [
      'Square, a deletion',
      { type: 'customer.deleted', data: { type: 'customer', deleted: true, object: { customer: lead } } },
      'deleted, says /type',
    ],
    ['monday, in the archive', { event: { type: 'archive_pulse', data: lead } }, 'deleted, says /event/type'],
    [
      'Intercom, in the archive',
      { topic: 'contact.archived', id: 'n1', data: { item: lead } },
      'deleted, says /topic',
    ],
    ['Odoo, a deletion', { _action: 'unlink', record: lead }, 'deleted, says /_action'],
    [
      'Azure Event Grid, a deletion',
      [{ subject: 'leads/1', eventType: 'Crm.LeadDeleted', data: lead }],
      'deleted, says /*/eventType',
    ],
    [
      'Plain, a deletion',
      { payload: { eventType: 'customer.customer_deleted', previousCustomer: person } },
      'past: /payload/previousCustomer',
    ],
    ['HighLevel, a deletion', { type: 'ContactDelete', ...person }, 'deleted, says /type'],
    ['a flat deletion by its type', { ...lead, type: 'lead.deleted' }, 'deleted, says /type'],
    ['a lead that was purged', { action: 'purge', lead }, 'deleted, says /action'],
    ['an event of a product', { type: 'product.updated', data: product }, 'something else, says /type'],
    ['a flat event of a product', { event: 'product.updated', ...product }, 'something else, says /event'],
    [
      'an event of a product that is like a lead',
      { event: 'product.updated', data: { ...product, createdAt: 'x', metadata: {} } },
      'something else, says /event',
    ],
    [
      'an event of an order, with its customer',
      { topic: 'orders/paid', data: { ...product, customer: person } },
      'something else, says /topic',
    ],
    [
      'Strapi, a product',
      { event: 'entry.create', model: 'product', entry: product },
      'something else, says /model',
    ],
    [
      'Supabase, a product',
      { type: 'INSERT', table: 'products', record: product },
      'something else, says /table',
    ],
    [
      'Stripe, a product',
      { id: 'e1', object: 'event', type: 'product.created', data: { object: product } },
      'something else, says /type',
    ],
    [
      'JSON:API, a product',
      { data: { type: 'products', id: 'P-1', attributes: { category: 'solar' } } },
      'something else, says /data/type',
    ],
    [
      'GitHub, a discussion',
      { action: 'created', discussion: { id: 5, category: { id: 6, name: 'Ideas' }, user: { id: 7 } } },
      'none',
    ],
    [
      'Heffl, a deal of a person',
      { event: 'deal.created', payload: { id: 'dl', leadId: 'ld', client: person } },
      'none',
    ],
    [
      'RD Station, whose contact has a uuid',
      {
        event_type: 'WEBHOOK.CONVERTED',
        entity_type: 'CONTACT',
        contact: { uuid: 'c2', email: 'ada@example.com' },
      },
      'none',
    ],
    [
      'Limelight, whose lead has nothing of a person',
      {
        id: 'wh',
        event: 'lead2.created',
        createdAt: 'x',
        data: { lead2: { id: 5, leadCompany: { id: 98 } } },
      },
      'none',
    ],
    [
      'Thumbtack, with ids of its own',
      { negotiationID: '5', category: { categoryID: '2' }, customer: {} },
      'none',
    ],
    ['Zoho, ids alone', { module: 'Leads', ids: ['1'], operation: 'insert' }, 'none'],
    ['Attio, ids alone', { events: [{ event_type: 'record.created', id: { record_id: 'b' } }] }, 'none'],
    ['Amazon SQS', { Records: [{ messageId: 'm', body: JSON.stringify(lead) }] }, 'none'],
    ['a ping', { id: 'e1', type: 'ping' }, 'none'],
    ['an event without data', { id: 'e1', event: 'invoice.paid', amount: 7 }, 'none'],
    [
      'Meta, with the ids of leads',
      { object: 'page', entry: [{ id: 1, changes: [{ value: { leadgen_id: 5 } }] }] },
      'none',
    ],
    [
      'Google, a lead form',
      { lead_id: 'x', user_column_data: [{ column_id: 'EMAIL', string_value: 'a@b.co' }] },
      'none',
    ],
    [
      'Typeform',
      { event_id: 'x', event_type: 'form_response', form_response: { token: 't', answers: [] } },
      'none',
    ],
    ['Tally', { eventId: 'x', eventType: 'FORM_RESPONSE', data: { responseId: 'r', fields: [] } }, 'none'],
    ['Pub/Sub', { message: { data: 'eyJpZCI6MX0=', messageId: '1' }, subscription: 's' }, 'none'],
    ['HubSpot, ids of objects', [{ eventId: 1, objectId: 5, subscriptionType: 'contact.creation' }], 'none'],
    ['an array of other objects', [{ id: 2 }, 5], 'none'],
    ['a text', 'lead', 'none'],
    ['null', null, 'none'],
  ])('%s', (_, body, reason) => {
    expect(placeIn(body)).toBe(reason);
  });
});

it.each([
  ['contact.id', { contact: { id: 26, email: 'ada@example.com' }, category: 'solar' }, 'the body'],
  ['contact.id', { data: { contact: { id: 26 }, category: 'solar' } }, '/data'],
  ['lead_id', { lead_id: 'x', user_column_data: [] }, 'the body'],
  ['lead_id', { object: 'page', entry: [{ lead_id: 'x', category: 'c' }] }, '/entry/*'],
  ['a.b', { 'a.b': 5, category: 'solar' }, 'the body'],
  ['data.id', { event: 'lead.created', data: { id: 'L-1', email: 'ada@example.com' } }, 'the body'],
  ['data.id', { id: 'e1', data: { id: 'L-1', category: 'solar' } }, 'the body'],
])('with the id in %s', (idName, body, place) => {
  expect(placeIn(body, idName)).toBe(place);
});

it('looks four members deep, and no deeper', () => {
  expect(placeIn({ a: { b: { c: { d: lead } } } })).toBe('/a/b/c/d');
  expect(placeIn({ a: { b: { c: { d: { e: lead } } } } })).toBe('none');
});
