import { expect, it } from 'vitest';
import type { DoctorProblem, PagingAdvice } from '../../src/doctor/problems.ts';
import { describeProblem } from '../../src/messages/command-line.ts';

const ids = { kind: 'leads-without-id', items: '/data', name: 'id' } as const;
const missing = "the leads are at /data, and some have no usable 'id'";
const ignored = { kind: 'filter-ignored', evidence: { kind: 'said', text: 'all came' } } as const;
const database = 'postgresql://db/leads';

it.each<[DoctorProblem, string, string | undefined]>([
  [
    { kind: 'inbox-place-full', directory: '/data' },
    '/data has no space left',
    'free some, or name another place with --inbox',
  ],
  [
    { kind: 'inbox-place-unwritable', directory: '/data', code: 'EROFS' },
    '/data cannot be written (EROFS)',
    'make it writable, or name another place with --inbox or LEADS_DATA_DIR',
  ],
  [
    { kind: 'inbox-place-volatile', directory: '/data', on: 'tmpfs' },
    '/data is on a tmpfs, which is empty after a restart of this machine',
    'name an inbox on a local disk with --inbox or LEADS_DATA_DIR',
  ],
  [
    { kind: 'inbox-file-damaged', inbox: 'inbox.db', damage: 'a page is used twice' },
    'inbox.db is damaged: a page is used twice',
    "'sqlite3 inbox.db .recover | sqlite3 NEW' saves what it still holds",
  ],
  [
    { kind: 'database-without-inbox', inbox: database },
    `there is no inbox in ${database}`,
    "run 'leads inbox migrate' with the role that owns it",
  ],
  [{ kind: 'port-of-listen', address: '[::1]:8443' }, 'leads listen has [::1]:8443', undefined],
  [
    { kind: 'port-taken', address: '127.0.0.1:80' },
    'another program has 127.0.0.1:80',
    'use another one: leads listen --port N',
  ],
  [
    { kind: 'port-needs-rights', address: '127.0.0.1:80' },
    '127.0.0.1:80 needs more rights',
    'use one from 1024 on: leads listen --port N',
  ],
  [
    { kind: 'service-host-unknown', host: 'api.example', why: 'ENOTFOUND' },
    'api.example cannot be looked up: there is no such host',
    "check the base URL ('leads config get base-url') and this machine's DNS",
  ],
  [{ ...ids, candidates: [] }, missing, 'name their id: leads config set api.id …'],
  [
    { ...ids, candidates: ['uuid'] },
    `${missing}; each has another uuid`,
    'if that is it: leads config set api.id uuid',
  ],
  [
    { ...ids, candidates: ['uuid', 'reference', 'key'] },
    `${missing}; uuid and reference both fit`,
    'decide: leads config set api.id uuid, or leads config set api.id reference',
  ],
  [
    { kind: 'list-by-post', status: 405 },
    'the service wants POST there (405), and lists are read by GET alone',
    'if it has a list for GET, too: leads config set api.path /…',
  ],
  [
    { kind: 'limit-harmful', evidence: { kind: 'parameter-rejected', asked: 'limit=3', status: 400 } },
    'limit=3 was rejected (400): it must not be sent',
    'leads config set api.params.limit null',
  ],
  [
    { ...ignored, name: 'status', isLearning: false },
    'silently ignored: all came',
    "'leads doctor --learn' looks for another name",
  ],
  [
    { ...ignored, name: 'status', isLearning: true },
    'silently ignored: all came',
    'narrow here: --where FIELD=VALUE',
  ],
  [
    { ...ignored, name: 'since', isLearning: false },
    'silently ignored, so leads narrows here: all came',
    "'leads doctor --learn' looks for another name",
  ],
  [
    { ...ignored, name: 'since', isLearning: true },
    'silently ignored, so leads narrows here: all came',
    undefined,
  ],
  [
    {
      ...{ kind: 'filter-harmful', name: 'category' },
      evidence: { kind: 'parameter-rejected', asked: 'category=a', status: 400 },
    },
    'category=a was rejected (400)',
    'leads config set api.params.category null',
  ],
  [
    {
      kind: 'two-status-fields',
      fields: [
        { name: 'status', values: ['a', 'b'] },
        { name: 'state', values: ['c'] },
      ],
    },
    'status and state both look like it (status: a, b; state: c)',
    'decide: leads config set api.status-field status, or leads config set api.status-field state',
  ],
])('says what %j is, and what to do about it', (found, message, hint) => {
  expect(describeProblem(found)).toEqual({ message, hint });
});

it.each<[PagingAdvice, string]>([
  ['learn', "'leads doctor --learn' looks for the parameters that it pages by"],
  [
    'name-parameter',
    'name what it pages by: leads config set api.params.page … (or api.params.offset, api.params.cursor)',
  ],
  [
    'affirm-one-page',
    'if one page is all: leads config set api.pagination none; otherwise: leads config set api.params.page …',
  ],
  ['more-leads', 'run it again when there are more'],
  [
    'more-leads-or-affirm',
    'run it again when there are more; if one page is all at any time: leads config set api.pagination none',
  ],
  ['repeat', 'run it again'],
])('advises %s where pages are undecided', (advice, hint) => {
  const found: DoctorProblem = {
    kind: 'paging-undecided',
    why: { kind: 'said', text: 'nobody knows' },
    advice,
  };
  expect(describeProblem(found)).toEqual({ message: 'nobody knows', hint });
});
