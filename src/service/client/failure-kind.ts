import { isDeepStrictEqual } from 'node:util';
import type { HttpAnswer } from '../../http/client/http-client.ts';
import { membersOf, type Json, type Member, plainName } from '../../json/exact.ts';
import { passes } from './network-failure.ts';
import { problemText } from './problem-text.ts';

type AnswerHead = Pick<HttpAnswer, 'status' | 'headers'>;

/** The kind decides the exit code, and whether another try may help. `passing`: the service fails, and may not fail the next time. */
export type FailureKind = 'gateway' | 'key' | 'rate-limit' | 'passing' | 'other';

/** The kind of an answer whose status says that it failed. `text`: the service's message; `body`: its first bytes as text. */
export function kindByStatus(
  { status, headers }: AnswerHead,
  text: string | undefined,
  body: string,
): FailureKind {
  if (isGatewayAnswer({ status, headers }, body)) return 'gateway';
  const kind = kindOfStatus(status);
  // A refusal is about the key or a rate limit. With another status, 'limit exceeded' may speak of a size.
  const isLimit = kind === 'key' ? isLimitText(text) || asksToWait(headers) : isCertainLimitText(text);
  return isLimit ? 'rate-limit' : kind;
}

/** The kind of a failure in the body of a 200. `code`: a number below 600 in the body, which may be a status of HTTP. */
export function kindByText(text = '', code = 0): FailureKind {
  const kind = kindOfStatus(code);
  const words = asWords(text);
  if (kind === 'rate-limit' || isLimitText(text)) return 'rate-limit';
  if (kind === 'key' || isKeyText(words)) return 'key';
  return passingText.test(words) ? 'passing' : kind;
}

function kindOfStatus(status: number): FailureKind {
  if (status === 429) return 'rate-limit';
  if (status === 401 || status === 403) return 'key';
  return passes(status) ? 'passing' : 'other';
}

/** `RATE_LIMIT` and `RateLimit` as `rate limit`. */
const asWords = (text: string): string =>
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

const isCertainLimitText = (text: string | undefined): boolean => certainLimit.test(asWords(text ?? ''));

const isLimitText = (text: string | undefined): boolean =>
  isCertainLimitText(text) || (likelyLimit.test(asWords(text ?? '')) && !pageSize.test(asWords(text ?? '')));

const asksToWait = (headers: AnswerHead['headers']): boolean =>
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
const pageToken = /(page|next|cursor|continuation|sync|skip|scroll) ?(token|key)/;
const isKeyText = (text: string): boolean => keyText.test(text) && !pageToken.test(text);

const passingText =
  /time ?out|timed out|temporar|unavailable|try again|internal (server )?error|server error|overload|busy|maintenance|deadlock|connection (was )?(refused|reset|lost|closed)|bad gateway/;

/**
 * Whether a gateway, firewall or bot check answered in place of the service; known are Cloudflare, Akamai, Imperva, AWS, Vercel,
 * Sucuri, DataDome, HUMAN, F5 and FortiWeb. With 401 or 403 any HTML page counts, since an API refuses a key in JSON.
 */
export function isGatewayAnswer({ status, headers }: AnswerHead, body: string): boolean {
  if (gatewayHeaders.some((name) => headers[name] !== undefined)) return true;
  // PHP declares JSON as HTML unless the application sets the type.
  const isHtml = /html/i.test(headers['content-type'] ?? '') && /^\s*[^\s{["]/.test(body);
  const isPage = isHtml || /^\s*<(!doctype html|html)/i.test(body);
  // RFC 6585, section 6: a network that asks for a login.
  if (status === 511) return true;
  if (status === 401 || status === 403) return isPage || challengeData.test(body);
  // These statuses are also used for challenges. Other pages with them may be the service's own.
  return isPage && [200, 202, 405, 406, 503].includes(status) && challengePage.test(body);
}

const gatewayHeaders = ['cf-mitigated', 'x-amzn-waf-action', 'x-vercel-mitigated', 'x-sucuri-block'];
/** Cloudflare's error 1015 is a rate limit (`likelyLimit`); its other codes from 1000 to 1099 are refusals. */
const challengeData =
  /captcha|error code: 10(?!15)\d\d|cloudflare_error|"appId"\s*:\s*"PX|request (was )?blocked/i;
const challengePage =
  /just a moment|attention required!|captcha|challenge-platform|incapsula|<title>request rejected|support id is|sucuri|web page blocked|ddos-guard/i;

interface FailureInBody {
  readonly kind: FailureKind;
  readonly text: string;
}

/**
 * `isEmpty`: the answer holds no lead; then the text of an error is a sign. `first`: the first answer with leads, which are left out:
 * what it has with the same content is ordinary for this service, and no sign. `requestUrl`: the requested address, whose parameters a
 * service may repeat.
 */
interface Circumstances {
  readonly isEmpty: boolean;
  readonly first?: Json | undefined;
  readonly requestUrl?: URL | undefined;
  readonly redact?: (text: string) => string;
}

/** Finds the failure that a body tells, its leads left out; undefined where it tells none. */
export function failureInBody(
  body: Json,
  { isEmpty, first, requestUrl, redact = (text) => text }: Circumstances,
): FailureInBody | undefined {
  const firstValues = new Map(outerMembers(first).map(({ place, value }) => [place, value]));
  const parameters = [...(requestUrl?.searchParams ?? [])];
  const members = outerMembers(body).filter(
    (member) =>
      !isDeepStrictEqual(firstValues.get(member.place), member.value) &&
      !repeatsParameter(member, parameters),
  );
  const words = (): string | undefined => problemText(body, redact);
  const signs = Object.values(isEmpty ? { ...certainSigns, ...signsWhenEmpty } : certainSigns);
  const sign = signs.map((isSign) => members.find((member) => isSign(member, words))).find(Boolean);
  if (sign === undefined) return undefined;
  const codes = members.filter(({ plain }) => codeName.test(plain) || plain === 'status');
  const code = codes.map(({ value }) => Number(value)).find((number) => number >= 400 && number < 600);
  const text = words();
  const sentence = text ?? redact(`'${sign.place}' is ${JSON.stringify(sign.value).slice(0, 100)}`);
  return { kind: kindByText(text, code), text: sentence };
}

/**
 * Whether a service repeats a parameter of the request in this member, perhaps by another name. A number or a truth can be equal by
 * chance, so that there the name has to fit as well: `limit=500` does not explain `"status": 500`.
 */
function repeatsParameter(
  { plain, value }: Member,
  parameters: readonly (readonly [string, string])[],
): boolean {
  if (typeof value === 'object') return false;
  const equalByValue = parameters.filter(([, text]) => text === String(value));
  const isCommonValue = /^(true|false)$/.test(String(value)) || !Number.isNaN(Number(value));
  const innermostName = (name: string): string => name.split(/[^A-Za-z0-9_-]+/).findLast(Boolean) ?? '';
  return equalByValue.some(
    ([name]) => !isCommonValue || plainName(name) === plain || plainName(innermostName(name)) === plain,
  );
}

/** Members in which services repeat the request: a filter such as `status=failed` is no sign of a failure. */
const requestMember = /^(filters?|query|params|parameters|request|criteria|sort|search|where)$/;

const outerMembers = (body: Json | undefined): Member[] =>
  membersOf(body, ({ plain, depth, value }) => (depth < 1 && !requestMember.test(plain) ? value : undefined));

/**
 * Signs of a failure. The code reads no key: it only names the services in whose answers the sign was seen. `certainSigns` tell a
 * failure even in an answer with leads; `signsWhenEmpty` only in one without leads, since other services send such texts as remarks.
 */
type Signs = Readonly<Record<string, (member: Member, words: () => string | undefined) => boolean>>;

const isFalse = (value: Json): boolean => value === false || value === 'false';
const isTrue = (value: Json): boolean => value === true || value === 'true';

const codeName = /^(error|err|status|http(status)?|result|return|ret|response|resp)?(code|no)$/;
/** A code tells the outcome in these objects and in the body itself (''). Elsewhere it is data, such as `currency.code`. */
const envelope =
  /^(response|result|meta|status|header|head|error|fault|baseresp|envelope|body|data|output|payload|info|)$/;
const failed =
  /^(err(or)?s?|fail(s|ed|ure)?|false|ko|nok|denied|rejected|unauthori[sz]ed|forbidden|invalid|exception|fatal|timeout)$/i;
const errorText =
  /error|fail|exception|invalid|denied|time ?out|timed out|unavailable|exceed|forbidden|unauthori[sz]ed|not (authori[sz]ed|allowed|permitted)|permission|expired|revoked|too many|limit|quota|throttl|slow ?down|cannot|could not|unable|refused|rejected|maintenance|degraded|incomplete/i;
const successText =
  /^(ok|success\w*|succeeded|done|true|操作成功|成功)\b|\bno (errors?|failures?)\b|without (an )?error/i;
const emptyText =
  /\b(no|0|zero)( \w+){0,2} (results?|leads?|records?|data|items?|entries|content|match(es)?)\b|\b(not?|0) .*(found|match)|not find|is empty/i;

function isErrorText(text: string): boolean {
  const words = text.replace(/[_-]/g, ' ');
  return errorText.test(words) && !successText.test(words) && !emptyText.test(words);
}

/** Codes that some services send with success are no error: 0, `00000`, 200 to 299, and 1 unless the text tells an error. */
function isErrorCode({ plain, value, parent }: Member, words: () => string | undefined): boolean {
  if (!codeName.test(plain) || !envelope.test(parent)) return false;
  if ((typeof value !== 'number' && typeof value !== 'string') || value === '') return false;
  const number = Number(value);
  const text = words() ?? '';
  if (successText.test(text)) return false;
  if (Number.isNaN(number)) return isErrorText(value as string);
  const isUsual = number === 0 || (number >= 200 && number < 300) || (number === 1 && !isErrorText(text));
  return !isUsual;
}

const certainSigns: Signs = {
  'Marketo, Pipedrive, Slack, Telegram, Cloudflare': ({ plain, value }) =>
    /^(is)?(success(ful)?|succeeded|ok)$/.test(plain) && (isFalse(value) || value === 0 || value === '0'),
  'HubSpot, Zoho, Kubernetes, Flickr, eBay, PHP': ({ plain, value }) =>
    /^(response|result|return)?(status|result|stat|state|ack|outcome)$/.test(plain) &&
    (isFalse(value) ||
      (typeof value === 'string' && failed.test(value)) ||
      (Number(value) >= 400 && Number(value) < 600)),
  'TikTok, WeChat, DingTalk, Feishu, LinkedIn': isErrorCode,
  'Salesforce, Bitrix24, gateways': ({ plain, value }) =>
    /^(is|has)?(errors?|errored|failed|failure|fault|exception)$/.test(plain) && isTrue(value),
};

/** Whether a value that stands for an error is one: services also send empty ones, and codes of success. */
function isFilled(value: Json): boolean {
  if (typeof value === 'string') return !/^(|0|200|none|null|no error|ok|success|false)$/i.test(value.trim());
  if (typeof value === 'number') return value !== 0 && value !== 200;
  return typeof value === 'object' && value !== null && Object.values(value).some(isFilled);
}

const signsWhenEmpty: Signs = {
  'the specification, section 7; GraphQL, Google APIs, Microsoft Graph': ({ plain, value }) =>
    /^(odata)?(errs?|errors?|faults?|faultcode|exceptions?|problems?|failures|errormessages?|errormsg|errmsg|errordescription)$/.test(
      plain,
    ) && isFilled(value),
  'Google Maps': ({ plain, value }) =>
    /^(status|result|state)$/.test(plain) && typeof value === 'string' && isErrorText(value),
  'gateways that answer 200 in the place of 429 or 503': ({ plain, value }) =>
    /^(message|msg|messages|detail|details|reason|info|warnings?|statustext|statusmessage|statusdescription)$/.test(
      plain,
    ) && isErrorText(problemText({ message: value }, (text) => text) ?? ''),
};
