import type { DoctorProblem, PagingAdvice, StatusField, VolatileStorage } from '../doctor/problems.ts';
import { formatDuration } from '../time/time-text.ts';
import { saveDamaged } from './inbox.ts';
import { messageIn, type Messages, type Words } from './message.ts';
import { tlsCauses, tlsHints } from './tls.ts';

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

const volatile: Readonly<Record<VolatileStorage, string>> = {
  tmpfs: 'a tmpfs, which is empty after a restart of this machine',
  ramfs: 'a ramfs, which is empty after a restart of this machine',
  NFS: 'NFS, where locks and syncs of a database are not reliable',
  SMB: 'an SMB share, where locks and syncs of a database are not reliable',
};

const lookupFaults: Readonly<Record<string, string>> = {
  ENOTFOUND: 'there is no such host',
  timeout: 'no answer came in time',
};

const mib = 1024 * 1024;
const sizeOf = (bytes: number): string =>
  bytes < 10 * 1024 * mib ? `${Math.floor(bytes / mib)} MiB` : `${Math.floor(bytes / (1024 * mib))} GiB`;
const leads = (count: number): string =>
  count === 1 ? '1 lead' : `${count || 'no'} lead${count ? 's' : ''}`;
const day = (at: number): string => new Date(at).toISOString().slice(0, 10);
const placeOf = (items: string): string =>
  items === '' ? 'the answer is the array' : `the leads are at ${items}`;
const valuesOf = ({ name, values }: StatusField): string => `${name}: ${values.slice(0, 8).join(', ')}`;

const byNtp = (): string => 'set it by NTP, such as: timedatectl set-ntp true';
const anew = 'the next listen makes another one, which clients have to trust anew';

/** What stands inside another sentence. */
const say = (found: DoctorProblem): string => messageIn(doctorMessages, found)?.message ?? found.kind;

/** Of the command line alone: doctor is no part of the library. */
export const doctorMessages: Messages<DoctorProblem> = {
  'node-current': ({ version }) => `node ${version}`,
  'node-old': ({ version, oldest }) => ({
    message: `node ${version} is older than ${oldest}`,
    hint: () => 'install a current version of node',
  }),
  'config-missing': ({ path }) => `no file ${path} yet; flags and environment count`,
  'file-open': ({ path, mode }) => ({
    message: `${path} is readable by others (${mode})`,
    hint: () => 'close it with chmod 600, unless its group is one that is to read it',
  }),
  'config-open': ({ path, mode }) => ({
    message: `${path} is readable by others (${mode}), and cannot be closed from here`,
    hint: () => 'close it where it is from: its owner with chmod 600, or the mode of what is mounted',
  }),
  'config-closed': ({ path, mode }) => ({
    message: `${path} was readable by others (${mode}), and is not any more`,
    hint: () => 'if somebody else uses this machine, replace the API key',
  }),
  'config-unwritable': ({ path }) => ({
    message: `${path} cannot be written`,
    hint: () => 'settings cannot be changed until it belongs to you',
  }),
  'config-in-order': ({ path, hasModes, profile }) =>
    `${path},${hasModes ? ' readable by you alone,' : ''} profile ${profile}`,
  'secret-undated': () => 'stored at a time that is not known',
  'secret-stored': ({ days }) =>
    `stored ${days === 0 ? 'today' : days === 1 ? 'a day ago' : `${days} days ago`}`,
  'clock-behind-delivery': ({ ms }) => ({
    message: `the newest delivery came ${formatDuration(ms)} later than the clock says`,
    hint: byNtp,
  }),
  'clocks-apart': ({ other, ms }) => ({
    message: `the ${other}'s clock differs by ${formatDuration(ms)}`,
    hint: byNtp,
  }),
  'clock-shows': ({ now }) => new Date(now).toISOString().replace(/\.\d+/, ''),
  'inbox-in-memory': () => 'in memory: it is lost when listen ends',
  'inbox-unmade': ({ inbox }) => `${inbox} is made by the first listen`,
  'inbox-opens': ({ inbox }) => `${inbox} opens, and syncs to disk`,
  'inbox-file-unreadable': ({ inbox, code }) => ({
    message: `${inbox} cannot be read and written (${code})`,
    hint: () => 'it must belong to you',
  }),
  'disk-space': ({ directory, bytes }) => ({
    message: `${sizeOf(bytes)} free in ${directory}`,
    hint: () => 'free some space: without it, deliveries are answered 503',
  }),
  'database-read-only': () => ({
    message: 'the database takes no writes',
    hint: () => 'a standby? name all hosts in the URL, and target_session_attrs=read-write',
  }),
  'database-opens': ({ inbox, version }) => `${inbox} opens, and syncs to disk: PostgreSQL ${version}`,
  'port-free': ({ address }) => `${address} is free`,
  'port-unusable': ({ address, code }) => ({
    message: `nothing can listen on ${address} (${code})`,
    hint: () => 'name an address of this machine',
  }),
  'authority-unmade': () => 'the local authority is made by the first listen',
  'authority-valid': ({ path, at }) => `${path}, valid until ${day(at)}`,
  'authority-ends': ({ path, at, isOver }) => ({
    message: `${path} ${isOver ? 'ended on' : 'is valid until'} ${day(at)}`,
    hint: () => anew,
  }),
  'authority-early': ({ path, at }) => ({
    message: `${path} is valid from ${day(at)}`,
    hint: () => `set the clock if it is behind; else ${anew}`,
  }),
  'authority-unusable': ({ path, directory, why }) => ({
    message: `${path} cannot be used: ${typeof why === 'string' ? why : `${why.otherKey} does not belong to it`}`,
    hint: () => `remove ${directory} to have a new one made`,
  }),
  'host-is-address': ({ host }) => `${host} is an address`,
  'host-by-proxy': ({ proxy }) => `the proxy ${proxy} looks names up`,
  'host-found': ({ host, addresses: [first, second, ...others] }) => {
    const both = second === undefined ? first : `${first}, ${second}`;
    return `${host} is ${both}${others.length > 0 ? ` and ${others.length} more` : ''}`;
  },
  'plain-http': () => 'plain HTTP on this machine',
  'tls-by-proxy': ({ proxy }) => `the service is reached through the proxy ${proxy}`,
  'tls-failed': ({ code, cause }) => ({
    message: cause === undefined ? `the handshake failed (${code})` : tlsCauses[cause](code),
    hint: (words) =>
      cause === undefined ? 'is the service up, and is this its HTTPS port?' : tlsHints[cause]?.(words),
  }),
  'certificate-ended': ({ days }) => ({
    message: `the certificate ended ${days} days ago`,
    hint: () => 'the service must renew it, or check the clock here',
  }),
  'certificate-of-others': ({ names, host }) => ({
    message: `the certificate is for ${names}, not for ${host}`,
    hint: () => 'check the base URL',
  }),
  'certificate-untrusted': ({ issuer, why }) => ({
    message: `the certificate of ${issuer} is not trusted (${why})`,
    hint: () => 'if its authority is a private one, name its certificate in NODE_EXTRA_CA_CERTS',
  }),
  'certificate-valid': ({ protocol, issuer, days }) => ({
    message: `${protocol}, issued by ${issuer}, ${days} days left`,
    hint: () => 'tell the service: its certificate ends soon',
  }),
  'key-accepted': () => 'accepted',
  'key-unseen': () => 'the answer does not show whether it is accepted',
  'no-key': () => 'there is no key',
  'no-answer': () => 'the service did not answer',
  'no-leads-answered': () => 'the answer holds no leads',
  'clock-unsent': () => 'the service sends no Date',
  'clock-agrees': () => "this machine's clock agrees with the service's",
  'clock-drifts': ({ drift, isHarmful }) => {
    const seen = `${formatDuration(Math.abs(drift))} ${drift > 0 ? 'behind' : 'ahead of'} the service's`;
    const harm = isHarmful ? ': signed deliveries are rejected' : '';
    return { message: `this machine's clock is ${seen}${harm}`, hint: byNtp };
  },
  'requests-spent': () => 'no request was left',
  'inbox-place-full': ({ directory }) => ({
    message: `${directory} has no space left`,
    hint: (words) => `free some, or name another place with ${words.option('inbox')}`,
  }),
  'inbox-place-unwritable': ({ directory, code }) => ({
    message: `${directory} cannot be written (${code})`,
    hint: (words) => `make it writable, or name another place with ${elsewhere(words)}`,
  }),
  'inbox-place-volatile': ({ directory, on }) => ({
    message: `${directory} is on ${volatile[on]}`,
    hint: (words) => `name an inbox on a local disk with ${elsewhere(words)}`,
  }),
  'inbox-file-damaged': ({ inbox, damage }) => ({
    message: `${inbox} is damaged: ${damage}`,
    hint: () => saveDamaged(inbox),
  }),
  'database-without-inbox': ({ inbox }) => ({ message: `there is no inbox in ${inbox}`, hint: migrate }),
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
    message: `${host} cannot be looked up: ${lookupFaults[why] ?? why}`,
    hint: (words) => `check the base URL ('${words.get('base-url')}') and this machine's DNS`,
  }),
  'no-lead-listed': ({ items }) => ({
    message: `${placeOf(items)}, and there is none`,
    hint: () => 'run it again when there are leads',
  }),
  'leads-listed': ({ items, count }) => `${placeOf(items)}, ${count} without asking for more`,
  'leads-without-id': ({ items, name, candidates: [first, second] }) => {
    const missing = `${placeOf(items)}, and some have no usable '${name}'`;
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
  paged: () => 'pages',
  'paged-by-link': () => 'Link header',
  'paged-by-url': () => 'next URL in the body',
  'paged-by-id': ({ param }) => `last id in ${param}`,
  'paged-by-cursor': ({ param }) => `cursor in ${param}`,
  'paged-by-offset': ({ param }) => `offset in ${param}`,
  'paged-by-number': ({ param, from }) =>
    `page number in ${param}${from === 1 ? '' : `, counted from ${from}`}`,
  'one-page': () => 'one page',
  'paging-found': ({ style, evidence }) => `${say(style)}: ${say(evidence)}`,
  'paging-undecided': ({ why, advice }) => ({ message: say(why), hint: onPaging[advice] }),
  'pages-followed': ({ first, second }) => `two pages followed each other, of ${first} and ${second} leads`,
  'leads-at-once': ({ count }) => `all ${count} leads came at once`,
  'leads-in-one-answer': ({ count }) => `${count} leads came in one answer, so fewer are not cut`,
  'leads-on-one-page': ({ count }) => `all ${count} leads fit on one page, so no further one shows`,
  'proven-up-to': ({ count }) => `proven for up to ${count} leads`,
  'next-page-named': () => 'a page named the next one: one that names none is the last',
  'leads-in-array': ({ count }) => `the answer is an array of ${count} leads`,
  'leads-came-there': ({ count }) => `${count} leads came there`,
  'id-distinct': ({ name }) => `no lead has an id, and each another ${name}`,
  'leads-listed-few': ({ count }) => `the service lists ${count === 0 ? 'no lead' : 'one lead only'}`,
  'no-request-for-it': () => 'no request was left for it, or none got through',
  'walk-begins-elsewhere': () => 'its first page is not the front of the list',
  'walk-of-one-page': () => 'it brought one page only',
  'walk-goes-on-elsewhere': () => 'its second page is not the one behind the first',
  'more-leads-unreached': () => 'there are more leads, and no usual parameter leads to them',
  'name-failed': ({ name, why }) => `${name}: ${say(why)}`,
  'limit-alone': ({ name }) =>
    `${name} is honoured, and no usual position: either there is another parameter, or one page is all`,
  'nothing-counts': ({ count }) =>
    `no usual limit, page, offset or cursor changed anything: ${count} leads came each time`,
  'learnt-walk-failed': ({ style, why }) => `${say(style)}: walked as learnt, ${say(why)}`,
  'leads-missing': ({ missing, asked }) => `${missing} of ${asked} leads did not come`,
  'list-cut': ({ evidence }) => `the list is cut: ${say(evidence)}`,
  said: ({ text }) => text,
  brought: ({ asked, count }) => `${asked} brought ${leads(count)}`,
  'brought-part': ({ asked, count }) => `${asked} brought ${count} leads, and there are more`,
  'brought-others': ({ asked, count }) => `${asked} brought ${count} leads that the list lacks`,
  'brought-selection': ({ asked, wanted }) => `${asked} brought ${say(wanted)} and no other`,
  'brought-other-selection': ({ asked, count, wanted }) =>
    `${asked} brought ${count} leads, and not ${say(wanted)}`,
  'leads-since': () => 'the leads from then on',
  'leads-until': () => 'the leads before',
  'leads-of-field': ({ field, text }) => `the leads with ${field} '${text}'`,
  'parameter-rejected': ({ asked, status }) => `${asked} was rejected (${status})`,
  'size-rejected': ({ name, size, status = 'no page', taken }) =>
    `${name}=${size} was rejected (${status}), ${name}=${taken} was not`,
  'no-effect-of-names': ({ count, name }) =>
    count === 1 ? `${name} changed nothing` : `${count} names changed nothing, ${name} among them`,
  'leads-alike': () => 'the leads differ too little',
  'times-alike': () => 'the leads differ too little in their time',
  'no-parameter': () => 'no parameter is set for it',
  'page-cap': ({ size, evidence }) => `${size} a page: ${say(evidence)}`,
  'page-cap-unknown': ({ name, size }) => `${name}, ${size} a page and perhaps more`,
  'page-cap-unreached': ({ name, count }) => `${name}; all ${count} leads came at once, so no cap shows`,
  'limit-honoured': ({ name, evidence }) => `${name}: ${say(evidence)}`,
  'limit-ignored': ({ name, evidence }) => `${name} is ignored: ${say(evidence)}`,
  'filter-unused': ({ evidence }) => ({
    message: `not used: ${say(evidence)}`,
    hint: () => 'the list is cut, or the filter reaches beyond it',
  }),
  'filter-unknown': ({ evidence }) => `no usual name is understood, so leads narrows here: ${say(evidence)}`,
  'order-unseen': () => 'the times of the leads do not show it',
  'leads-in-order': ({ order }) => order.replaceAll('-', ' '),
  'rate-untold': () => 'no header tells of one',
  'rate-told': ({ names, limit }) =>
    `${limit === undefined ? 'told' : `${limit} requests`} (${names.join(', ')})`,
  'requests-limited': ({ requests, ms }) => ({
    message: `reached after ${requests} requests, which ended the questions`,
    hint: () =>
      `run it again ${ms === undefined ? 'later' : `in ${formatDuration(ms)}`}, when requests are allowed again`,
  }),
  'limit-harmful': ({ evidence }) => ({
    message: `${say(evidence)}: it must not be sent`,
    hint: (words) => words.set('api.params.limit', 'null'),
  }),
  'filter-ignored': ({ name, evidence, isLearning }) => ({
    message: `silently ignored${name === 'status' ? '' : ', so leads narrows here'}: ${say(evidence)}`,
    hint: (words) => {
      if (!isLearning) return `${learn(words)} looks for another name`;
      return name === 'status' ? `narrow here: ${words.option('where', 'FIELD=VALUE')}` : undefined;
    },
  }),
  'filter-harmful': ({ name, evidence }) => ({
    message: say(evidence),
    hint: (words) => words.set(`api.params.${name}`, 'null'),
  }),
  'status-unseen': () => 'no field of a lead looks like a status',
  'status-field': ({ field }) => valuesOf(field),
  'two-status-fields': ({ fields }) => {
    const [{ name: first }, { name: second }] = fields;
    return {
      message: `${first} and ${second} both look like it (${fields.map(valuesOf).join('; ')})`,
      hint: (words) =>
        `decide: ${words.set('api.status-field', first)}, or ${words.set('api.status-field', second)}`,
    };
  },
};
