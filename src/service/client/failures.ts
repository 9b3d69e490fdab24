import { isUtf8 } from 'node:buffer';
import { KeyRejectedError, type LeadsError } from '../../errors.ts';
import type { HttpAnswer } from '../../http/client/http-client.ts';
import { utf8 } from '../../json/bytes.ts';
import { isObject, type Json } from '../../json/exact.ts';
import { answerError, serviceError, type ServiceProblem } from '../problems.ts';
import { parseProblem, problemText } from './problem-text.ts';
import { askedWaitMs } from './rate-limit.ts';
import { passes, TransientError } from './retry.ts';
import type { Service } from './service.ts';

interface FailedAnswer extends Pick<HttpAnswer, 'status' | 'headers'> {
  /** The URL of the request. */
  readonly url?: URL;
  /** Takes secrets out of a text of the answer. */
  readonly redact: (text: string) => string;
}

/** More of the body of a failure is not read, in bytes. */
const longestBody = 64 * 1024;

/** The failure that an error status means: a `TransientError` where another try may help. Reads `body` only. */
export async function errorAnswer(
  service: Service,
  answer: FailedAnswer,
  body: AsyncIterable<Uint8Array>,
): Promise<LeadsError | TransientError> {
  const text = await beginningOf(body);
  const problem = parseProblem(text);
  const reason = problemText(problem, answer.redact);
  return failureOf(service, answer, { kind: kindOfAnswer(answer, reason, text), reason, body: problem });
}

/**
 * The failure that an answer without leads tells in its body although its status is a success; undefined where it tells
 * none. `body`: parsed, or its bytes, which may be anything.
 */
export function failureInAnswer(
  service: Service,
  answer: FailedAnswer,
  body: Json | Uint8Array,
  first?: Json,
): LeadsError | TransientError | undefined {
  if (body instanceof Uint8Array) {
    const text = utf8(body);
    if (isGatewayAnswer(answer, text))
      return failureOf(service, answer, {
        kind: 'gateway',
        reason: problemText(text, answer.redact),
        body: null,
      });
    const json = parseProblem(text);
    return failureInAnswer(service, answer, typeof json === 'string' ? { message: json } : json, first);
  }
  const failure = failureIn(body, { isEmpty: true, first, asked: answer.url, redact: answer.redact });
  return (
    failure && failureOf(service, answer, { kind: failure.kind, reason: failure.text, body, isInBody: true })
  );
}

interface FailureFacts {
  /** The status is a success. */
  readonly isInBody?: boolean;
  readonly kind: FailureKind;
  readonly reason: string | undefined;
  readonly body: Json;
}

function failureOf(
  { account, clock }: Service,
  { status, headers, redact }: FailedAnswer,
  { kind, reason, body, isInBody = false }: FailureFacts,
): LeadsError | TransientError {
  const details = { status, requestId: requestIdIn({ headers, redact }) };
  if (kind === 'gateway') return serviceError({ kind: 'gateway-refuses', status, reason }, details);
  if (kind === 'key') {
    const { profile, keyIsFromCommand = false } = account;
    return new KeyRejectedError({ kind: 'key-refused', status, reason, profile, keyIsFromCommand }, details);
  }
  const mayReset = kind === 'rate-limit' || status === 503;
  const { 'retry-after': retryAfter, date } = headers;
  const waitMs = askedWaitMs(
    mayReset ? headers : { 'retry-after': retryAfter, date },
    mayReset ? body : undefined,
    clock.now(),
  );
  if (kind === 'rate-limit')
    return new TransientError(serviceError({ kind: 'rate-limited', status, reason }, details), waitMs);
  const problem: ServiceProblem = isInBody
    ? { kind: 'error-with-status-200', reason }
    : { kind: 'service-answered', status, reason };
  if (kind === 'passing') return new TransientError(serviceError(problem, details), waitMs);
  return (status >= 500 ? serviceError : answerError)(problem, details);
}

const idHeaders = [
  'x-request-id',
  'request-id',
  'x-correlation-id',
  'x-amzn-requestid',
  'x-trace-id',
  'cf-ray',
];

/** The service's name for a request, unless it repeats the key in it. */
export function requestIdIn({
  headers,
  redact,
}: Pick<FailedAnswer, 'headers' | 'redact'>): string | undefined {
  const id = idHeaders.map((name) => headers[name]).find((value) => value !== undefined);
  return id === undefined ? undefined : redact(id);
}

/** The beginning of a body as text; a body that breaks off says no more than the status does. */
async function beginningOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const chunk of body) {
      chunks.push(chunk);
      length += chunk.length;
      if (length > longestBody) break;
    }
    const bytes = Buffer.concat(chunks);
    return isUtf8(bytes) ? utf8(bytes) : bytes.toString('latin1');
  } catch {
    return '';
  }
}

/** A failure that a service tells in the body of a success. */
export interface FailureInBody {
  readonly kind: FailureKind;
  /** The text of the service, or the member that says that it failed. */
  readonly text: string;
}

interface Circumstances {
  /** The answer holds no lead: then the text of an error is enough. */
  readonly isEmpty: boolean;
  /** The answer that brought the first leads, without them: what it says, too, is no failure. */
  readonly first?: Json | undefined;
  /** The request: a service may repeat its parameters. */
  readonly asked?: URL | undefined;
  readonly redact?: ((text: string) => string) | undefined;
}

/** The failure that an answer tells, its leads left out; undefined where it tells none. */
export function failureIn(body: Json, circumstances: Circumstances): FailureInBody | undefined {
  const { isEmpty, first, asked, redact = (text: string) => text } = circumstances;
  const usualValues = new Map(
    first === undefined ? [] : membersOf(first).map(({ place, value }) => [place, value]),
  );
  const echoes = new Set(asked?.searchParams.values());
  const members = membersOf(body).filter(
    ({ place, value }) =>
      usualValues.get(place) !== value && !(typeof value === 'string' && echoes.has(value)),
  );
  const text = problemText(body, redact);
  const rows = isEmpty ? [...flags, ...besideNothing] : flags;
  const sign = rows.flatMap(([, isSign]) => members.find((member) => isSign(member, text ?? '')) ?? [])[0];
  if (sign === undefined) return undefined;
  const code = members
    .filter(({ name }) => codeName.test(name) || name === 'status')
    .map(({ value }) => Number(value))
    .find((number) => number >= 400 && number < 600);
  const inWords = text ?? redact(`'${sign.place}' is ${JSON.stringify(sign.value).slice(0, 100)}`);
  return { kind: kindOfText(text, code), text: inWords };
}

interface Member {
  /** Without its case, dashes and underscores. */
  readonly name: string;
  readonly place: string;
  readonly value: Json;
  /** In an object of the answer. */
  readonly isInner: boolean;
  readonly parent: string;
}

/** Members that repeat the request. */
const echo = /^(filters?|query|params|parameters|request|criteria|sort|search|where)$/;

function membersOf(body: Json): Member[] {
  if (!isObject(body)) return [];
  const plain = (name: string): string => name.toLowerCase().replace(/[^a-z0-9]/g, '');
  return Object.entries(body).flatMap(([name, value]): Member[] => {
    const outer = { name: plain(name), place: name, value, isInner: false, parent: '' };
    if (!isObject(value) || echo.test(outer.name)) return [outer];
    const inner = Object.entries(value).map(([key, innerValue]): Member => {
      const place = `${name}.${key}`;
      return { name: plain(key), place, value: innerValue, isInner: true, parent: outer.name };
    });
    return [outer, ...inner];
  });
}

type Row = readonly [source: string, isSign: (member: Member, text: string) => boolean];

const isFalse = (value: Json): boolean => value === false || value === 'false';
const isTrue = (value: Json): boolean => value === true || value === 'true';

const codeName = /^(error|err|status|http(status)?|result|return|ret|response|resp)?(code|no)$/;
const envelope =
  /^(response|result|meta|status|header|head|error|fault|baseresp|envelope|body|data|output|payload|info|)$/;
const failed =
  /^(err(or)?s?|fail(s|ed|ure)?|false|ko|nok|denied|rejected|unauthori[sz]ed|forbidden|invalid|exception|fatal|timeout)$/i;
const errorText =
  /error|fail|exception|invalid|denied|time ?out|timed out|unavailable|exceed|forbidden|unauthori[sz]ed|not (authori[sz]ed|allowed|permitted)|permission|expired|revoked|too many|limit|quota|throttl|slow ?down|cannot|could not|unable|refused|rejected|maintenance|degraded|incomplete/i;
const successText =
  /^(ok|success\w*|succeeded|done|true|操作成功|成功)\b|\bno (errors?|failures?)\b|without (an )?error/i;
/** An empty list is no failure. */
const emptyText =
  /\b(no|0|zero)( \w+){0,2} (results?|leads?|records?|data|items?|entries|content|match(es)?)\b|\b(not?|0) .*(found|match)|not find|is empty/i;

function isErrorText(text: string): boolean {
  const plain = text.replace(/[_-]/g, ' ');
  return errorText.test(plain) && !successText.test(plain) && !emptyText.test(plain);
}

/** A code that means success somewhere: 0, 1 where nothing says otherwise, `00000` and all of 200 to 299. */
function isErrorCode({ name, value, isInner, parent }: Member, text: string): boolean {
  if (!codeName.test(name) || (isInner && !envelope.test(parent))) return false;
  if (typeof value !== 'number' && typeof value !== 'string') return false;
  const number = Number(value);
  if (value === '' || successText.test(text)) return false;
  if (Number.isNaN(number)) return isErrorText(value as string);
  const isUsual = number === 0 || (number >= 200 && number < 300) || (number === 1 && !isErrorText(text));
  return !isUsual;
}

/** Members that say that a request failed, whatever stands beside them. */
const flags: readonly Row[] = [
  [
    'Marketo, Pipedrive, Slack, Telegram, Cloudflare',
    ({ name, value }) =>
      /^(is)?(success(ful)?|succeeded|ok)$/.test(name) && (isFalse(value) || value === 0 || value === '0'),
  ],
  [
    'HubSpot, Zoho, Kubernetes, Flickr, eBay, PHP',
    ({ name, value }) =>
      /^(response|result|return)?(status|result|stat|state|ack|outcome)$/.test(name) &&
      (isFalse(value) ||
        (typeof value === 'string' && failed.test(value)) ||
        (Number(value) >= 400 && Number(value) < 600)),
  ],
  ['TikTok, WeChat, DingTalk, Feishu, LinkedIn', isErrorCode],
  [
    'Salesforce, Bitrix24, gateways',
    ({ name, value }) =>
      /^(is|has)?(errors?|errored|failed|failure|fault|exception)$/.test(name) && isTrue(value),
  ],
];

/** Whether a value that stands for an error is one: services also send empty ones, and codes of success. */
function isFilled(value: Json): boolean {
  if (typeof value === 'string') return !/^(|0|200|none|null|no error|ok|success|false)$/i.test(value.trim());
  if (typeof value === 'number') return value !== 0 && value !== 200;
  return typeof value === 'object' && value !== null && Object.values(value).some(isFilled);
}

/** Members that say it where no lead came. */
const besideNothing: readonly Row[] = [
  [
    'the specification, section 7; GraphQL, Google APIs, Microsoft Graph',
    ({ name, value }) =>
      /^(odata)?(errs?|errors?|faults?|faultcode|exceptions?|problems?|failures|errormessages?|errormsg|errmsg|errordescription)$/.test(
        name,
      ) && isFilled(value),
  ],
  [
    'Google Maps',
    ({ name, value }) =>
      /^(status|result|state)$/.test(name) && typeof value === 'string' && isErrorText(value),
  ],
  [
    'gateways that answer 200 in the place of 429 or 503',
    ({ name, value }) =>
      /^(message|msg|messages|detail|details|reason|info|warnings?|statustext|statusmessage|statusdescription)$/.test(
        name,
      ) && isErrorText(problemText({ message: value }, (text) => text) ?? ''),
  ],
];

/** A kind of failure decides the exit code, and whether another try may help. */
export type FailureKind =
  /** Something in front of the service refuses this machine. */
  | 'gateway'
  | 'key'
  | 'rate-limit'
  /** The service fails, and may not fail the next time. */
  | 'passing'
  | 'other';

interface FailedResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
}

/** The kind of an answer whose status says that it failed. `text`: what the service says; `body`: its first bytes as text. */
export function kindOfAnswer(
  { status, headers }: FailedResponse,
  text: string | undefined,
  body: string,
): FailureKind {
  if (isGatewayAnswer({ status, headers }, body)) return 'gateway';
  const isRefusal = status === 401 || status === 403;
  const isLimit = isRefusal ? isLimitText(text) || hasNoRequestsLeft(headers) : isCertainLimitText(text);
  if (status === 429 || isLimit) return 'rate-limit';
  if (isRefusal) return 'key';
  return passes(status) ? 'passing' : 'other';
}

/** The kind of a failure that is told in the body of a 200. `code` is a number in the body, which may be a status of HTTP. */
export function kindOfText(text: string | undefined, code?: number): FailureKind {
  if (code === 429 || isLimitText(text)) return 'rate-limit';
  if (code === 401 || code === 403 || (text !== undefined && isKeyText(plain(text)))) return 'key';
  const isPassing = (code !== undefined && code < 600 && passes(code)) || passingText.test(plain(text ?? ''));
  return isPassing ? 'passing' : 'other';
}

/** `RATE_LIMIT` and `RateLimit` as `rate limit`. */
const plain = (text: string): string =>
  text
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .replace(/[_-]+/g, ' ')
    .toLowerCase();

const certainLimit =
  /rate ?limit|too many (api )?(requests|calls|concurrent)|throttl|quota (was |is |has been )?exceeded|exceeded .{0,40}quota|(request|call|usage|query|api|daily|hourly|monthly) limit/;
const likelyLimit =
  /limit (has been |was |is )?(reached|exceeded|hit)|(reached|exceed(ed|s|ing)?|hit|over)( [\w']+){0,4} limits?\b|max(imum)? rate|requests? per (second|minute|hour|day)|too (frequent|fast|often)|slow ?down|quota|^limit( \(\w+\))?$|error code: 1015/;
/** The page is too large: it is asked for smaller. */
const pageSize =
  /page ?size|per ?page|page limit|limit (must|should|cannot|may not|exceeds)|max(imum)? (page|limit)/;

const isCertainLimitText = (text: string | undefined): boolean => certainLimit.test(plain(text ?? ''));

const isLimitText = (text: string | undefined): boolean =>
  isCertainLimitText(text) || (likelyLimit.test(plain(text ?? '')) && !pageSize.test(plain(text ?? '')));

const hasNoRequestsLeft = (headers: FailedResponse['headers']): boolean =>
  headers['retry-after'] !== undefined ||
  ['x-ratelimit-remaining', 'x-rate-limit-remaining', 'ratelimit-remaining'].some(
    (name) => headers[name] === '0',
  );

const credential =
  'api ?key|access key|token|credentials?|signature|session|login|jwt|bearer|authentication|authorization';
const wrong =
  'invalid|expired?|revoked|missing|incorrect|wrong|unknown|bad|denied|inactive|disabled|required|failed|not (valid|recogni[sz]ed|found|active)';
const keyText = new RegExp(
  [
    String.raw`\b(${credential})\b.{0,40}\b(${wrong})\b|\b(${wrong}|no)\b.{0,30}\b(${credential})\b`,
    String.raw`\b(invalid|expired|wrong|bad|revoked) key\b`,
    '(un|not )(authori[sz]ed|authenticated)|(access|permission) denied|forbidden|invalid grant|insufficient (scope|permission)',
  ].join('|'),
);
/** A token that names a page is no credential. */
const pageToken = /(page|next|cursor|continuation|sync|skip|scroll) ?(token|key)/;
const isKeyText = (text: string): boolean => keyText.test(text) && !pageToken.test(text);

const passingText =
  /time ?out|timed out|temporar|unavailable|try again|internal (server )?error|server error|overload|busy|maintenance|deadlock|connection (was )?(refused|reset|lost|closed)|bad gateway/;

/**
 * Pages by which gateways, firewalls and bot checks refuse a client: Cloudflare, Akamai, Imperva, AWS, Vercel, Sucuri, DataDome,
 * HUMAN, F5 and FortiWeb. A JSON interface refuses a key in JSON, so that any page for people counts, too.
 */
function isGatewayAnswer({ status, headers }: FailedResponse, body: string): boolean {
  if (gatewayHeaders.some((name) => headers[name] !== undefined)) return true;
  // PHP declares JSON as HTML unless the application sets the type.
  const isHtml = /html/i.test(headers['content-type'] ?? '') && /^\s*[^\s{["]/.test(body);
  const isPage = isHtml || /^\s*<(!doctype html|html)/i.test(body);
  // RFC 6585, section 6: a network that asks for a login.
  if (status === 511) return true;
  if (status === 401 || status === 403) return isPage || challengeData.test(body);
  return isPage && [200, 202, 405, 406, 503].includes(status) && challengePage.test(body);
}

const gatewayHeaders = ['cf-mitigated', 'x-amzn-waf-action', 'x-vercel-mitigated', 'x-sucuri-block'];
const challengeData =
  /captcha|error code: 10(?!15)\d\d|cloudflare_error|"appId"\s*:\s*"PX|request (was )?blocked/i;
const challengePage =
  /just a moment|attention required!|captcha|challenge-platform|incapsula|<title>request rejected|support id is|sucuri|web page blocked|ddos-guard/i;
