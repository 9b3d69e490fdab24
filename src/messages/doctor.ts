import type { DoctorProblem, PagingAdvice } from '../doctor/problems.ts';
import type { Messages, Words } from './message.ts';

const elsewhere = (words: Words): string => `${words.option('inbox')} or LEADS_DATA_DIR`;
const migrate = (words: Words): string =>
  `run '${words.command('inbox migrate')}' with the role that owns it`;
const learn = (words: Words): string => `'${words.command('doctor --learn')}'`;

const onPaging: Readonly<Record<PagingAdvice, (words: Words) => string>> = {
  'name-parameter': (words) =>
    `name what it pages by: ${words.set('api.params.page')} (or api.params.offset, api.params.cursor)`,
  'more-leads': () => 'run it again when there are more',
  'more-leads-or-affirm': (words) =>
    `run it again when there are more; if one page is all at any time: ${words.set('api.pagination', 'none')}`,
  'affirm-one-page': (words) =>
    `if one page is all: ${words.set('api.pagination', 'none')}; otherwise: ${words.set('api.params.page')}`,
  repeat: () => 'run it again',
  learn: (words) => `${learn(words)} looks for the parameters that it pages by`,
};

/** Of the command line alone: doctor is no part of the library. */
export const doctorMessages: Messages<DoctorProblem> = {
  'inbox-place-full': ({ directory }) => ({
    message: `${directory} has no space left`,
    hint: (words) => `free some, or name another place with ${words.option('inbox')}`,
  }),
  'inbox-place-unwritable': ({ directory, code }) => ({
    message: `${directory} cannot be written (${code})`,
    hint: (words) => `make it writable, or name another place with ${elsewhere(words)}`,
  }),
  'inbox-place-volatile': ({ directory, on }) => ({
    message: `${directory} is on ${on}`,
    hint: (words) => `name an inbox on a local disk with ${elsewhere(words)}`,
  }),
  'inbox-file-damaged': ({ inbox, damage }) => ({
    message: `${inbox} is damaged: ${damage}`,
    hint: (words) => `'${words.command(`inbox recover --inbox ${inbox} -o NEW`)}' saves what it still holds`,
  }),
  'database-without-inbox': ({ inbox }) => ({ message: `there is no inbox in ${inbox}`, hint: migrate }),
  'partitions-missing': ({ months }) => ({ message: `missing for ${months.join(', ')}`, hint: migrate }),
  'two-id-fields': ({ listed, delivered }) => ({
    message: `'${delivered}' identifies a delivered lead and '${listed}' a listed one: where they differ, a lead has two ids`,
    hint: (words) =>
      `name one field in both, if leads have it: ${words.set('webhook.id', listed)}, or ${words.set('api.id', delivered)}`,
  }),
  'secret-old': ({ setting, days }) => ({
    message: `${setting} was stored ${days} days ago`,
    hint: (words) =>
      setting === 'api-key'
        ? `ask the service for another one, then: ${words.command('login')}`
        : `agree on another one with the service, then: ${words.set(setting, '-')}; a receiver takes both in files meanwhile`,
  }),
  'port-of-listen': ({ address }) => `leads listen has ${address}`,
  'port-taken': ({ address }) => ({
    message: `another program has ${address}`,
    hint: (words) => `use another one: ${words.command('listen --port N')}`,
  }),
  'port-needs-rights': ({ address }) => ({
    message: `${address} needs more rights`,
    hint: (words) => `use one from 1024 on: ${words.command('listen --port N')}`,
  }),
  'service-host-unknown': ({ host, why }) => ({
    message: `${host} cannot be looked up: ${why}`,
    hint: (words) => `check the base URL ('${words.get('base-url')}') and this machine's DNS`,
  }),
  'leads-without-id': ({ where, name, candidates: [first, second] }) => {
    const missing = `${where}, and some have no usable '${name}'`;
    const set = (words: Words): string => words.set('api.id', first);
    if (first === undefined) return { message: missing, hint: (words) => `name their id: ${set(words)}` };
    if (second === undefined)
      return {
        message: `${missing}; each has another ${first}`,
        hint: (words) => `if that is it: ${set(words)}`,
      };
    return {
      message: `${missing}; ${first} and ${second} both fit`,
      hint: (words) => `decide: ${set(words)}, or ${words.set('api.id', second)}`,
    };
  },
  'list-by-post': ({ status }) => ({
    message: `the service wants POST there${status === undefined ? '' : ` (${status})`}, and lists are read by GET alone`,
    hint: (words) => `if it has a list for GET, too: ${words.set('api.path', '/…')}`,
  }),
  'paging-undecided': ({ why, advice }) => ({ message: why, hint: onPaging[advice] }),
  'limit-harmful': ({ evidence }) => ({
    message: `${evidence}: it must not be sent`,
    hint: (words) => words.set('api.params.limit', 'null'),
  }),
  'filter-ignored': ({ name, evidence, isLearning }) => ({
    message: `silently ignored${name === 'status' ? '' : ', so leads narrows here'}: ${evidence}`,
    hint: (words) => {
      if (!isLearning) return `${learn(words)} looks for another name`;
      return name === 'status' ? `narrow here: ${words.option('where', 'FIELD=VALUE')}` : undefined;
    },
  }),
  'filter-harmful': ({ name, evidence }) => ({
    message: evidence,
    hint: (words) => words.set(`api.params.${name}`, 'null'),
  }),
  'two-status-fields': ({ fields: [first, second], seen }) => ({
    message: `${first} and ${second} both look like it (${seen})`,
    hint: (words) =>
      `decide: ${words.set('api.status-field', first)}, or ${words.set('api.status-field', second)}`,
  }),
};
