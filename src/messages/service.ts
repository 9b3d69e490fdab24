import type { Problem } from '../errors.ts';
import type { ServiceProblem } from '../service/problems.ts';
import { formatDuration } from '../time/time-text.ts';
import { otherPlace } from '../json/errors.ts';
import { tlsCauses, tlsHints } from './tls.ts';
import { type Message, messageIn, type Messages, type Words, loginCommand } from './message.ts';

/** By the codes of node and undici. */
const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was reset',
  EPIPE: 'the connection was closed',
  ETIMEDOUT: 'the connection timed out',
  EHOSTUNREACH: 'there is no route to the host',
  ENETUNREACH: 'the network is unreachable',
  EAI_AGAIN: 'its name could not be looked up',
  ENOTFOUND: 'there is no such host',
  UND_ERR_CONNECT_TIMEOUT: 'the connection timed out',
  UND_ERR_HEADERS_TIMEOUT: 'no answer came in time',
  UND_ERR_BODY_TIMEOUT: 'the answer stopped coming',
  UND_ERR_SOCKET: 'the connection was closed before the answer was complete',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'the answer was cut off',
  UND_ERR_ABORTED: 'the connection was closed before the answer was complete',
  HPE_INVALID_EOF_STATE: 'the answer was cut off',
  Z_BUF_ERROR: 'the answer was cut off',
};

const withReason = (message: string, reason: string | undefined): string =>
  reason === undefined ? message : `${message}: ${reason}`;

const proxyHint = (): string => 'see HTTPS_PROXY and NO_PROXY';

/** Names that some services have, so that a hint can be followed as it stands. */
const otherParams = (words: Words): string =>
  [words.set('api.params.page', 'pageNo'), words.set('api.params.offset', 'from')]
    .map((text) => words.quoted(text))
    .join(' or ');

const howToSet = (words: Words): string =>
  [words.learning, `if you know the parameter that it pages by, as in ${otherParams(words)}`]
    .filter((text) => text !== undefined)
    .join('; ');

/** What decides whether one answer is everything. */
const provingHint = (words: Words): string =>
  `${howToSet(words)}; if one answer is everything: ${words.quoted(words.set('api.pagination', 'none'))}`;

const howToEstimate = (words: Words): string =>
  `${howToSet(words)}; or, if it counts more than it lists: ${words.quoted(words.set('api.total', 'estimate'))}`;

const unreadHint = (words: Words): string =>
  `${howToSet(words)}; if it means something else and one answer is everything: ${words.quoted(words.set('api.pagination', 'none'))}`;

const unproven = (message: string, hint: NonNullable<Message['hint']> = howToSet): Message => ({
  message,
  hint,
});

export const serviceMessages: Messages<ServiceProblem> = {
  unreachable: ({ origin, code, mayBeTls }) => ({
    message: `cannot reach ${origin}: ${reasons[code] ?? code}`,
    hint: (words) =>
      mayBeTls
        ? `is it up, and is it plain HTTP? If not, use ${origin.replace('http:', 'https:')}`
        : `is it up, and is the base URL right? See ${words.quoted(words.get('base-url'))}`,
  }),
  'no-such-host': ({ origin }) => ({
    message: `cannot reach ${origin}: there is no such host`,
    hint: (words) => `check the base URL: ${words.quoted(words.get('base-url'))}`,
  }),
  'answers-in-plain-http': ({ origin, isLoopback }) => ({
    message: `cannot reach ${origin}: the server speaks plain HTTP`,
    hint: () =>
      isLoopback
        ? `use ${origin.replace('https:', 'http:')}`
        : 'is that the port for HTTPS? An API key goes over plain HTTP to loopback addresses only',
  }),
  'unsafe-connection': ({ origin, cause, detail }) => ({
    message: `cannot reach ${origin} safely: ${tlsCauses[cause](detail)}`,
    hint: (words) => tlsHints[cause]?.(words),
  }),
  'connection-failed': ({ origin, why }) => `cannot reach ${origin}: ${why}`,
  'proxy-refuses': ({ origin, status }) => ({
    message: `the proxy does not connect to ${origin} (${status})`,
    hint: proxyHint,
  }),
  'proxy-unreachable': ({ proxy, code, why }) => ({
    message: `cannot reach the proxy ${proxy}: ${reasons[code] ?? why}`,
    hint: proxyHint,
  }),
  'key-refused': ({ status, reason, profile, keyIsFromCommand }) => ({
    message: withReason(`the service refused the API key (${status})`, reason),
    hint: (words) =>
      keyIsFromCommand
        ? `it is what api-key-command printed: ${words.quoted(words.get('api-key-command'))}`
        : words.otherKey(loginCommand(profile)),
  }),
  'rate-limited': ({ status, reason }) => withReason(`the service limits the rate (${status})`, reason),
  'gateway-refuses': ({ status, reason }) => ({
    message: withReason(`something in front of the service refuses this machine (${status})`, reason),
    hint: () => 'a gateway or a bot check answered: its operator can let the address of this machine through',
  }),
  'service-answered': ({ status, reason }) => ({
    message: withReason(`the service answered ${status}`, reason),
    hint: (words) =>
      status === 404 || status === 405
        ? `the list operation may have another path: ${words.quoted(words.set('api.path', '/…'))}`
        : undefined,
  }),
  'call-answered': ({ status, reason }) => withReason(`the service answered ${status}`, reason),
  'error-with-status-200': ({ reason }) => withReason('the service answered 200 with an error', reason),
  'too-many-redirects': ({ most }) => `the service redirects more than ${most} times`,
  'redirects-elsewhere': ({ origin, profile }) => ({
    message: `the service redirects to ${origin ?? 'no proper URL'}, another origin`,
    hint: (words) =>
      origin === undefined
        ? undefined
        : `the API key is not sent there; if that is the service: ${words.otherBaseUrl(origin, loginCommand(profile, origin))}`,
  }),
  'redirect-not-followed': ({ location, status }) => ({
    message: `the service redirects to ${location} (${status}), which is not followed`,
    hint: () => 'if that is the place that was meant, ask for it',
  }),
  'broken-compression': ({ origin, why }) => `${origin} sent a compressed answer that is broken: ${why}`,
  'no-proper-http': ({ origin, why }) => `${origin} does not answer in proper HTTP: ${why}`,
  'unknown-encoding': ({ name }) => `the service encodes its answer as '${name}'`,
  'answer-too-slow': () => 'the answer comes too slowly',
  'answer-too-long': ({ mostBytes }) => `the answer is longer than ${mostBytes / 1024 / 1024} MiB`,
  'answer-empty': () => 'the answer is empty',
  'answer-cut-off': () => 'the answer was cut off',
  'answer-ends-early': () => 'the answer is not valid JSON: it ends too early, although it came whole',
  'answer-not-json': ({ type }) => ({
    message: `the service answered with ${type}, not with JSON`,
    hint: otherPlace,
  }),
  'next-page-elsewhere': ({ there, origin }) => ({
    message: `the next page lies at ${there ?? 'no proper URL'}, another origin than ${origin}`,
    hint: (words) =>
      `the API key is not sent there; to go by page numbers: ${words.quoted(words.set('api.pagination', 'page'))}; if another member names the next page: ${words.quoted(words.set('api.next', '/…'))}`,
  }),
  'next-number-unclear': ({ value }) => ({
    message: `the service names ${value} as the next, which may be a page or a number of leads`,
    hint: (words) =>
      `name its parameter: ${words.quoted(words.set('api.params.page', 'page'))} or ${words.quoted(words.set('api.params.offset', 'offset'))}`,
  }),
  'position-elsewhere': ({ origin }) => `the page to go on with lies at ${origin}, another origin`,
  'position-read-before': () => unproven('the service names a page as the next one that was read before'),
  'gave-up': ({ of, tries }) => ({
    message: `${sentence(of)} (tried ${tries} times)`,
    hint: (words) => hintFor(of, words),
  }),
  'asked-to-come-back': ({ of, waitMs, at }) => ({
    message: `${sentence(of)}; it asks to come back in ${formatDuration(waitMs)}`,
    // An absurd value may name a time that no calendar has.
    hint: () =>
      `try again ${at < 8.64e15 ? `at ${new Date(at).toISOString().replace(/\.\d+/, '')}` : 'later'}`,
  }),
  incomplete: ({ what, reason, since }) => ({
    message: `${what} may be missing: ${sentence(reason)}`,
    hint: (words) => {
      const hint = hintFor(reason, words) ?? '';
      if (what === 'pages') return hint;
      const narrower =
        since === undefined ? '' : `; or ask for no older leads than came: ${words.option('since', since)}`;
      return `${hint}${narrower}; or take what there is with ${words.option('accept-incomplete')}`;
    },
  }),
  'no-pointer': ({ setting, text, example }) =>
    `${setting} is '${text}', which is neither 'auto' nor a JSON Pointer such as ${example}`,
  'other-status': ({ field, status, wanted }) => ({
    message: `the service also lists leads with ${field} '${status}'`,
    join: '; ',
    hint: (words) => `to narrow here: ${words.option('where', `${field}=${wanted}`)}`,
  }),
  'unread-beside-setting': ({ of }) => ({
    message: `${sentence(of)}, and api.pagination is none`,
    join: '; ',
    hint: (words) => `if it does: ${words.quoted(words.set('api.pagination', 'auto'))}`,
  }),
  'nothing-new': () =>
    unproven('a page brought no new lead: the service gave one again that it had given before'),
  'nothing-behind-stop': () => unproven('nothing came where an earlier run had stopped'),
  'rejected-behind': ({ of }) =>
    unproven(`the service rejected the page behind the last one that was read: ${sentence(of)}`),
  'no-list': () =>
    unproven(
      'the answer holds no list of leads, not even an empty one',
      (words) =>
        `is the path right? See ${words.quoted(words.set('api.path', '/…'))} and ${words.quoted(words.set('api.items', '/…'))}`,
    ),
  'more-without-leads': () => unproven('the service says that there is more, and sends no further lead'),
  'more-without-position': () =>
    unproven('the service says that there is more, and its answer does not lead there'),
  'more-without-parameter': () =>
    unproven('the service says that there is more, and no parameter leads there'),
  'empty-page': ({ page, pages }) => unproven(`page ${page} of ${pages} is empty`),
  'more-than-one-page': () => unproven('the service says that there is more, and api.pagination is none'),
  'total-beyond-one-page': ({ total, count }) =>
    unproven(
      `the service counts ${total} leads and gave ${count}, and api.pagination is none`,
      howToEstimate,
    ),
  'total-out-of-reach': ({ total, met }) =>
    unproven(
      `the service has ${total} leads, and its answers show no way past the first ${met}`,
      howToEstimate,
    ),
  'page-may-be-cut': ({ count }) =>
    unproven(
      `${count} leads came, which may be as many as the service gives at once, and no position leads further`,
      provingHint,
    ),
  'run-before-not-met': ({ overlap }) =>
    unproven(
      overlap === 1
        ? 'the newest lead of the run before did not come again'
        : `none of the ${overlap} newest leads of the run before came again`,
      () => 'leads between both runs may be out of reach, unless those were deleted',
    ),
  'attempt-not-met': ({ leads }) =>
    unproven(
      `the list is another one or empty: ${leads === 1 ? 'the lead' : `none of the ${leads} leads`} that came before the interruption ${leads === 1 ? 'did not come' : 'came'} again`,
      () => 'leads may be missing, unless those were deleted',
    ),
  'total-not-met': ({ total, met }) =>
    unproven(`the service counts ${total} leads and gave ${met}`, howToEstimate),
  'window-apart': ({ param }) =>
    unproven(`an answer to '${param}' does not begin with the lead that the one before it ended with`),
  'window-of-one-time': ({ param }) =>
    unproven(`the leads of a full answer to '${param}' do not become older, so that no time leads past them`),
  'total-vanished': () => unproven('the service counted leads at first, and none in the end'),
  'failed-answer': ({ text }) =>
    unproven(`the service answered with a failure: ${text}`, () => 'try again later'),
  'partial-answer': ({ sign }) =>
    unproven(`the service says itself that an answer is not all ('${sign}')`, () => 'try again later'),
  'range-does-not-fit': ({ range, count }) =>
    unproven(
      range === undefined
        ? 'the service answered with a part of the list (206) and does not say which'
        : `the service answered with the part '${range}', and ${count} leads came`,
    ),
  'unread-member': ({ name }) => unproven(`the answer's '${name}' may lead to more leads`, unreadHint),
  'unread-header': ({ name }) => unproven(`the answer's header '${name}' may lead to more leads`, unreadHint),
  'redirect-drops': ({ param }) =>
    unproven(
      `the service redirects the list, and drops the parameter '${param}' on the way`,
      (words) => `name the place it redirects to: ${words.quoted(words.set('api.path', '/…'))}`,
    ),
  'setting-without-effect': ({ setting }) =>
    unproven(`${setting} says where the next page is named, and no answer names one there`, (words) => {
      const isRight = `if it is right: ${words.quoted(words.set('api.next-seen', 'true'))}`;
      return `${isRight}; if the service may page in another way: ${words.quoted(words.set(setting, 'auto'))}`;
    }),
  'endless-empty-pages': ({ pages }) =>
    unproven(`the service sends one empty page after another (${pages} in a row)`),
  'too-many-requests': ({ requests, fruitful }) =>
    unproven(`${fruitful} of ${requests} requests brought new leads: the walk comes to no end`),
  'list-kept-moving': () =>
    unproven(
      'leads kept moving between the pages while the list was read',
      (words) => `run it again when fewer leads change, or with a larger ${words.option('page-size')}`,
    ),
};

/** The message of a problem that another one wraps. */
const messageOf = (problem: Problem): Message =>
  messageIn(serviceMessages, problem) ?? { message: problem.kind };

const sentence = (problem: Problem): string => messageOf(problem).message;

const hintFor = (problem: Problem, words: Words): string | undefined => messageOf(problem).hint?.(words);
