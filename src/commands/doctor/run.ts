import { describe, describeProblem } from '../../describe.ts';
import type { Context, Outcome } from '../../context.ts';
import { type Settings, readConfig } from '../../config/load-settings.ts';
import type { AccountSettings } from '../../config/settings.ts';
import { type CheckOutcome, type CheckResult, fail, pass, skip } from '../../doctor/check-result.ts';
import { compareWithProfile, type LearntChange, writeDialect } from './learnt-changes.ts';
import {
  checkConfig,
  checkFileMode,
  checkIdFields,
  checkSecretAges,
  statConfig,
} from '../../doctor/config-file.ts';
import { checkAuthority, checkPort } from '../../doctor/listen-address.ts';
import { checkFreeSpace, checkInbox, probeStorage } from '../../doctor/inbox-opens.ts';
import { ConfigError, DataError, KeyRejectedError, type LeadsError, UsageError } from '../../errors.ts';
import { formatSeconds } from '../../time/time-text.ts';
import { resolveInbox } from '../flags/resolve-inbox.ts';
import type { InboxFlags } from '../flags/shared-flags.ts';
import { type DialectReport, examineDialect } from '../../doctor/learn/examine-dialect.ts';
import {
  checkHostLookup,
  checkServiceCertificate,
  type Connection,
  checkClockDrift,
} from '../../doctor/service-connection.ts';
import { proxyFor } from '../../http/client/http-client.ts';
import { openService } from '../../service/client/service.ts';
import { authorityFor, authorityKeyPath } from '../../tls/local-authority.ts';
import { write, writeJson } from '../../output/stdout.ts';
import { marksFor, paletteFor, wrapWidth, sanitize } from '../../output/terminal/terminal.ts';
import { wrap } from '../../output/wrap.ts';

interface DoctorOptions extends InboxFlags {
  readonly learn: boolean;
  readonly port: number;
  readonly host: string;
  readonly format: string;
}

export async function run(options: DoctorOptions, context: Context): Promise<Outcome> {
  const { clock, status } = context;
  const configBefore = statConfig(context.paths.configDir);
  // A base URL that cannot be used is found here, as whatever else cannot.
  const read = await orConfigError(async () => ({ ...(await context.settings()) }));
  // Without an account there is nothing to learn from.
  if (options.learn) {
    if (read instanceof ConfigError) throw read;
    read.account();
    rejectOtherService(read, context);
  }
  const settings = read instanceof ConfigError ? undefined : read;
  const printer = options.format === 'json' ? jsonPrinter(context) : await prettyPrinter(context);
  const startedAt = clock.now();
  status?.showProgress(
    (now) => `${options.learn ? 'learning' : 'checking'}, ${formatSeconds(now - startedAt)}`,
  );
  try {
    const receiver = checkReceiver(options, settings, context);
    const account = settings && (await orConfigError(() => settings.account()));
    const service = checkService(settings, account, options.learn, context);
    // A check that fails while others are printed is reported in its turn.
    for (const promise of [receiver, service.connection, service.dialect]) promise.catch(() => undefined);
    const profile = settings && readConfig(context.paths.configDir).profiles?.[settings.profile];
    const machine = [
      checkConfig(configBefore, read, context.platform),
      ...checkSecretAges(profile ?? {}, context.env, clock.now()),
    ];
    const results: CheckResult[] = [];
    const groups: readonly (readonly [string, Promise<readonly CheckResult[]>])[] = [
      ['this machine', Promise.resolve(machine)],
      [
        `the service${settings?.baseUrl === undefined ? '' : ` ${settings.baseUrl.origin}`}`,
        service.connection,
      ],
      ['its list of leads', service.dialect],
      ['receiving', receiver],
    ];
    for (const [title, group] of groups) {
      results.push(...(await group));
      await printer.group(title, await group);
    }
    const examination = await service.examination;
    const keys = options.learn ? (examination?.keys ?? []) : [];
    const learnt = settings === undefined ? [] : compareWithProfile(keys, settings.profile, context);
    if (learnt.length > 0) await printer.learnt(learnt);
    const isWritten = learnt.length > 0 && settings !== undefined;
    if (isWritten) await writeDialect(learnt, settings.profile, context);
    const count = (outcome: CheckOutcome): number =>
      results.filter(({ result }) => result === outcome).length;
    const counts = { pass: count('pass'), warn: count('warn'), fail: count('fail'), skip: count('skip') };
    status?.showProgress(undefined);
    const written = isWritten ? learnt.length : null;
    await printer.end({ ...counts, requests: examination?.requests ?? 0, learnt: learnt.length, written });
    return counts.fail > 0 ? 'problems' : 'done';
  } finally {
    status?.showProgress(undefined);
  }
}

/** The profile's dialect is that of its own service. */
function rejectOtherService({ profile, baseUrl }: Settings, { paths }: Pick<Context, 'paths'>): void {
  const stored = readConfig(paths.configDir).profiles?.[profile]?.baseUrl;
  if (stored === undefined || baseUrl === undefined || new URL(stored).origin === baseUrl.origin) return;
  throw new UsageError(`profile '${profile}' is for ${stored}, and this is ${baseUrl.origin}`, {
    hint: 'name another --profile for it',
  });
}

/** The result of a step, or its error where the configuration is the cause. */
async function orConfigError<T>(step: () => T | Promise<T>): Promise<T | ConfigError> {
  try {
    return await step();
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
}

async function checkReceiver(
  options: DoctorOptions,
  settings: Settings | undefined,
  context: Context,
): Promise<readonly CheckResult[]> {
  const { clock, paths, platform } = context;
  const [inbox, port, authority] = await Promise.all([
    openInbox(options, settings ?? { profile: 'default' }, context),
    checkPort(options.host, options.port),
    checkAuthority(paths.dataDir, clock.now()),
  ]);
  const mode = checkFileMode('receiver.authority-mode', authorityKeyPath(paths.dataDir), platform);
  return [...inbox, ...(settings === undefined ? [] : checkIdFields(settings)), port, authority, ...mode];
}

async function openInbox(
  options: DoctorOptions,
  settings: Pick<Settings, 'profile'>,
  context: Context,
): Promise<readonly CheckResult[]> {
  const location = await orConfigError(() => resolveInbox(options, settings, context));
  if (location instanceof ConfigError) return [fail('receiver.inbox', location)];
  if (typeof location === 'string') return openFile(location, context);
  const { checkDatabase } = await import('../../doctor/database-opens.ts');
  return checkDatabase(location);
}

async function openFile(location: string, { paths, clock, platform }: Context): Promise<CheckResult[]> {
  const storage = await probeStorage(location === ':memory:' ? `${paths.dataDir}/inbox.db` : location);
  const mode = checkFileMode('receiver.inbox-mode', location, platform);
  return [await checkInbox(location, storage, clock), ...mode, checkFreeSpace(storage)];
}

/** The checks of the pull side. */
interface ServiceReport {
  readonly connection: Promise<readonly CheckResult[]>;
  readonly dialect: Promise<readonly CheckResult[]>;
  /** Undefined without a key or base URL. */
  readonly examination: Promise<DialectReport | undefined>;
}

const pullChecks = ['service.dns', 'service.tls', 'service.key', 'service.clock'];
const dialectNames = 'envelope pagination page-size status category since until'
  .split(' ')
  .map((name) => `dialect.${name}`);

/** Starts the checks of the service; what takes longest does not keep the others waiting. */
function checkService(
  settings: Settings | undefined,
  account: Pick<AccountSettings, 'baseUrl'> | ConfigError | undefined,
  isLearning: boolean,
  context: Context,
): ServiceReport {
  if (settings === undefined || account === undefined)
    return unchecked(new ConfigError('the configuration cannot be read'));
  if (account instanceof ConfigError) return unchecked(account);
  const examination = examined(isLearning, context);
  const connection = connectionOf(account.baseUrl, settings, context);
  return {
    connection: Promise.all([
      connection.then(checkHostLookup),
      connection.then(checkServiceCertificate),
      examination.then(checkKey),
      examination.then(checkClockDrift),
    ]),
    dialect: examination.then(({ error, checks }) => (error === undefined ? checks : unexamined(error))),
    examination,
  };
}

function unchecked(why: LeadsError): ServiceReport {
  const skipped = (names: readonly string[]): Promise<CheckResult[]> =>
    Promise.resolve(names.map((name) => skip(name, why)));
  return {
    connection: skipped(pullChecks),
    dialect: skipped(dialectNames),
    examination: Promise.resolve(undefined),
  };
}

async function examined(isLearning: boolean, context: Context): Promise<DialectReport> {
  const service = await orConfigError(() => openService(context));
  if (!(service instanceof ConfigError)) return examineDialect(service, isLearning);
  // The command that gives the key failed: without a key nothing can be asked.
  return { error: service, requests: 0, drift: undefined, isReached: false, checks: [], keys: [] };
}

async function connectionOf(
  baseUrl: URL,
  { timeoutMs }: Settings,
  { env, paths, clock, signal }: Context,
): Promise<Connection> {
  // `receiver.authority` reports an authority that cannot be read.
  const authority = await authorityFor(baseUrl, paths.dataDir).catch(() => undefined);
  return {
    baseUrl,
    proxy: proxyFor(baseUrl, env),
    authorities: authority === undefined ? [] : [authority],
    timeoutMs,
    clock,
    signal,
  };
}

function checkKey({ error }: DialectReport): CheckResult {
  const name = 'service.key';
  if (error === undefined) return pass(name, 'accepted');
  // The service was reached, and its answer says nothing of the key.
  if (error instanceof DataError && !(error instanceof KeyRejectedError))
    return skip(name, 'the answer does not show whether it is accepted');
  return fail(name, error);
}

function unexamined(error: LeadsError): CheckResult[] {
  const isData = error instanceof DataError;
  const [envelope = '', ...later] = dialectNames;
  const why = error instanceof ConfigError ? 'there is no key' : 'the service did not answer';
  const first = isData ? fail(envelope, error) : skip(envelope, why);
  return [
    isData && wantsPost(error) ? wantsGet(envelope, error) : first,
    ...later.map((name) => skip(name, isData ? 'the answer holds no leads' : why)),
  ];
}

function wantsGet(name: string, { status }: LeadsError): CheckResult {
  const statusText = status === undefined ? '' : ` (${status})`;
  const detail = `the service wants POST there${statusText}, and lists are read by GET alone`;
  return fail(name, detail, 'if it has a list for GET, too: leads config set api.path /…');
}

/** The specification's list operation takes GET; those of others may not. */
const wantsPost = ({ status, message }: LeadsError): boolean => status === 405 || /\bPOST\b/.test(message);

/** Writes results to stdout as they come. */
interface DoctorPrinter {
  group(title: string, results: readonly CheckResult[]): Promise<void>;
  learnt(changes: readonly LearntChange[]): Promise<void>;
  end(summary: DoctorSummary): Promise<void>;
}

type PrintContext = Pick<Context, 'stdout' | 'env' | 'globals'>;

/** `--json`: one object a line, the last one the summary. */
function jsonPrinter({ stdout }: Pick<PrintContext, 'stdout'>): DoctorPrinter {
  const line = (value: object): Promise<void> => writeJson(stdout, value);
  return {
    async group(_title, results) {
      for (const { name, result, detail, hint } of results.map(inWords)) {
        await line({ type: 'check', name, result, detail, hint: hint ?? null });
      }
    },
    async learnt(changes) {
      for (const { key, value, evidence, old } of changes) {
        await line({ type: 'learnt', key, value, evidence, ...(old === undefined ? {} : { old }) });
      }
    },
    end: (summary) => line({ type: 'summary', ...summary }),
  };
}

/** Columns for the names of checks. */
const nameWidth = 12;

/**
 * For people: a line for each check, and its hint below it where it is not in order; under `--quiet` nothing that is in
 * order.
 */
async function prettyPrinter(context: PrintContext): Promise<DoctorPrinter> {
  const { stdout, globals } = context;
  const { quiet } = globals;
  const colours = await paletteFor(stdout, context);
  const marks = marksFor(context);
  const paint = { pass: colours.green, warn: colours.yellow, fail: colours.red, skip: colours.dim };
  // Chalk takes further arguments for more text.
  const dim = (line: string): string => colours.dim(line);
  const width = wrapWidth(stdout);
  const indent = marks.pass.length + 1 + nameWidth + 1;
  const put = (lines: readonly string[]): Promise<void> => write(stdout, `${lines.join('\n')}\n`);
  const indented = (text: string, columns: number): string[] =>
    wrap(sanitize(text), Math.max(20, width - columns)).map((line) => ' '.repeat(columns) + line);
  const inside = (text: string): string[] => indented(text, indent);
  const checkLines = (checks: Alike): string[] => {
    const [{ result, detail, hint }] = checks;
    const names = checks.map(({ name }) => name.slice(name.indexOf('.') + 1));
    const mark = paint[result](marks[result]);
    const narrow = marks.pass.length + 1;
    const isOne = names.length === 1;
    const text = isOne ? inside(detail) : indented(`${names.join(', ')}: ${detail}`, narrow);
    const [first = '', ...lines] = text;
    const label = isOne ? `${names.join('').padEnd(nameWidth)} ` : '';
    const hintText = `hint: ${hint}`;
    const hints = hint === undefined ? [] : isOne ? inside(hintText) : indented(hintText, narrow);
    return [`${mark} ${label}${first.trimStart()}`, ...lines, ...hints.map(dim)];
  };
  return {
    async group(title, results) {
      const printed = quiet
        ? results.filter(({ result }) => result === 'warn' || result === 'fail')
        : results;
      if (quiet && printed.length === 0) return;
      await put([colours.bold(sanitize(title)), ...alike(printed.map(inWords)).flatMap(checkLines), '']);
    },
    learnt: (changes) =>
      put([
        colours.bold('learnt'),
        ...changes.flatMap(({ key, value, evidence, old }) => {
          const was = old === undefined || old === value ? '' : ` (was ${valueText(old)})`;
          return [`  ${sanitize(`${key} ${valueText(value)}${was}`)}`, ...inside(evidence).map(dim)];
        }),
        '',
      ]),
    end: async ({ pass, warn, fail, skip, requests, written }) => {
      if (quiet && warn + fail === 0) return;
      const verdict = fail > 0 ? colours.red : colours.green;
      const counts = `${pass} passed, ${warn} warning${warn === 1 ? '' : 's'}, ${fail} failed, ${skip} skipped`;
      const requestCount = requests === 0 ? '' : `; ${requests} requests`;
      const saved =
        written === null ? '' : `; wrote ${written} key${written === 1 ? '' : 's'} to the profile`;
      await put(wrap(`${counts}${requestCount}${saved}`, width).map((line) => verdict(line)));
    },
  };
}

type CheckInWords = ReturnType<typeof inWords>;
type Alike = [CheckInWords, ...CheckInWords[]];

/** A check that passes needs no hint. */
function inWords({ name, result, detail, hint }: CheckResult) {
  if (typeof detail === 'string') return { name, result, detail, hint: result === 'pass' ? undefined : hint };
  const words = detail instanceof Error ? describe(detail) : describeProblem(detail);
  return { name, result, detail: words.message, hint: words.hint };
}

/** Checks in a row that were skipped for one reason stand in one line. */
function alike(results: readonly CheckInWords[]): Alike[] {
  const groups: Alike[] = [];
  for (const result of results) {
    const last = groups.at(-1);
    const isSkip = last?.[0].result === 'skip' && result.result === 'skip';
    if (last !== undefined && isSkip && last[0].detail === result.detail) last.push(result);
    else groups.push([result]);
  }
  return groups;
}

/** An empty JSON Pointer is a value. */
const valueText = (value: unknown): string =>
  typeof value === 'string' && value !== '' ? value : JSON.stringify(value);

interface DoctorSummary extends Readonly<Record<CheckOutcome, number>> {
  /** Requests that asked the service for its dialect. */
  readonly requests: number;
  /** Keys that `--learn` found. */
  readonly learnt: number;
  /** Keys that `--learn` wrote; null where none was to be written. */
  readonly written: number | null;
}
