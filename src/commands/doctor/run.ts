import { valueAt, withValue } from '../../config/check-config.ts';
import type { Settings } from '../../config/load-settings.ts';
import { readConfig } from '../../config/read-config.ts';
import { settingKeys } from '../../config/setting-keys.ts';
import { updateProfile } from '../../config/write-config.ts';
import type { Context, Outcome } from '../../context.ts';
import { type CheckOutcome, type CheckResult, fail, pass, skip } from '../../doctor/check-result.ts';
import * as config from '../../doctor/config-file.ts';
import { checkFreeSpace, checkInbox, probeStorage } from '../../doctor/inbox-opens.ts';
import { type DialectReport, examineDialect } from '../../doctor/learn/examine-dialect.ts';
import type { LearntKey } from '../../doctor/learn/examination.ts';
import { checkAuthority, checkIdFields, checkPort } from '../../doctor/receiver-setup.ts';
import {
  checkClockDrift,
  checkHostLookup,
  checkServiceCertificate,
} from '../../doctor/service-connection.ts';
import { ConfigError, DataError, KeyRejectedError, type LeadsError, UsageError } from '../../errors.ts';
import { proxyFor } from '../../http/client/proxy.ts';
import { type Style, styleFor } from '../../output/report.ts';
import { write, writeJson } from '../../output/stdout.ts';
import { sanitize, wrap } from '../../output/terminal/terminal.ts';
import { openService } from '../../service/client/service.ts';
import { formatSeconds } from '../../time/time-text.ts';
import { authorityFor, authorityKeyPath } from '../../tls/local-authority.ts';
import { resolveInbox } from '../flags/resolve-inbox.ts';
import type { DoctorOptions } from './command.ts';

/** A learnt key, and the value that the profile held before; undefined where it held none. */
interface LearntChange extends LearntKey {
  readonly path: readonly string[];
  readonly old: unknown;
}

type Group = readonly [title: string, checks: readonly CheckResult[]];

export async function run(options: DoctorOptions, context: Context): Promise<Outcome> {
  const { clock, status, paths, platform, stdout } = context;
  const configBefore = config.statConfig(paths.configDir);
  const read = await orConfigError(async () => ({ ...(await context.settings()) }));
  if (options.learn) {
    if (read instanceof ConfigError) throw read;
    read.account();
    rejectOtherService(read, context);
  }
  const settings = read instanceof ConfigError ? undefined : read;
  const startedAt = clock.now();
  const verb = options.learn ? 'learning' : 'checking';
  status?.showProgress((now) => `${verb}, ${formatSeconds(now - startedAt)}`);
  try {
    const [service, receiver] = await Promise.all([
      checkService(settings, options.learn, context),
      checkReceiver(options, settings, context),
    ]);
    const profile = (settings && readConfig(paths.configDir).profiles?.[settings.profile]) ?? {};
    const groups: readonly Group[] = [
      ['this machine', [config.checkConfig(configBefore, read, platform)]],
      [['the service', settings?.baseUrl?.origin].join(' ').trimEnd(), service.connection],
      ['its list of leads', service.dialect],
      ['receiving', receiver],
    ];
    const keys = options.learn ? service.keys : [];
    const learnt = settingKeys.flatMap(({ name, path }): LearntChange[] =>
      keys.filter(({ key }) => key === name).map((key) => ({ ...key, path, old: valueAt(profile, path) })),
    );
    status?.showProgress(undefined);
    const isJson = options.format === 'json';
    const style = isJson ? undefined : await styleFor(context);
    const { quiet } = context.globals;
    if (style === undefined) await printRecords(groups, learnt, context);
    else await write(stdout, linesOf(groups, learnt, quiet, style).join(''));
    const isWritten = learnt.length > 0 && settings !== undefined;
    if (isWritten)
      await updateProfile(context, settings.profile, (stored) =>
        learnt.reduce((changed, { path, value }) => withValue(changed, path, value), stored),
      );
    const results = groups.flatMap(([, checks]) => checks.map(({ result }) => result));
    const count = (outcome: CheckOutcome): number => results.filter((result) => result === outcome).length;
    const summary = {
      ...{ pass: count('pass'), warn: count('warn'), fail: count('fail'), skip: count('skip') },
      requests: service.requests,
      learnt: learnt.length,
      written: isWritten ? learnt.length : null,
    };
    if (style === undefined) await writeJson(stdout, { type: 'summary', ...summary });
    else if (!quiet || summary.warn + summary.fail > 0) await write(stdout, conclusionOf(summary, style));
    return summary.fail > 0 ? 'problems' : 'done';
  } finally {
    status?.showProgress(undefined);
  }
}

function rejectOtherService({ profile, baseUrl }: Settings, { paths }: Pick<Context, 'paths'>): void {
  const stored = readConfig(paths.configDir).profiles?.[profile]?.['base-url'];
  if (stored === undefined || baseUrl === undefined || new URL(stored).origin === baseUrl.origin) return;
  throw new UsageError(`profile '${profile}' is for ${stored}, and this is ${baseUrl.origin}`, {
    hint: 'name another --profile for it',
  });
}

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
  const mode = config.checkFileMode('receiver.authority-mode', authorityKeyPath(paths.dataDir), platform);
  return [...inbox, ...(settings ? checkIdFields(settings) : []), port, authority, ...mode];
}

async function openInbox(
  options: DoctorOptions,
  settings: Pick<Settings, 'profile'>,
  context: Context,
): Promise<readonly CheckResult[]> {
  const { paths, clock, platform } = context;
  const location = await orConfigError(() => resolveInbox(options, settings, context));
  if (location instanceof ConfigError) return [fail('receiver.inbox', location)];
  if (typeof location !== 'string')
    return (await import('../../doctor/database-opens.ts')).checkDatabase(location);
  const storage = await probeStorage(location === ':memory:' ? `${paths.dataDir}/inbox.db` : location);
  const mode = config.checkFileMode('receiver.inbox-mode', location, platform);
  return [await checkInbox(location, storage, clock), ...mode, checkFreeSpace(storage)];
}

interface ServiceReport extends Pick<DialectReport, 'keys' | 'requests'> {
  readonly connection: readonly CheckResult[];
  readonly dialect: readonly CheckResult[];
}

const pullChecks = ['service.dns', 'service.tls', 'service.key', 'service.clock'];
const dialectNames = 'envelope pagination page-size status category since until'
  .split(' ')
  .map((name) => `dialect.${name}`);

async function checkService(
  settings: Settings | undefined,
  isLearning: boolean,
  context: Context,
): Promise<ServiceReport> {
  if (settings === undefined) return unchecked(new ConfigError('the configuration cannot be read'));
  const account = await orConfigError(() => settings.account());
  if (account instanceof ConfigError) return unchecked(account);
  const { baseUrl } = account;
  const { env, paths, clock, signal } = context;
  // `receiver.authority` reports an authority that cannot be read.
  const authority = await authorityFor(baseUrl, paths.dataDir).catch(() => undefined);
  const authorities = authority === undefined ? [] : [authority];
  const { timeoutMs } = settings;
  const connection = { baseUrl, proxy: proxyFor(baseUrl, env), authorities, timeoutMs, clock, signal };
  const [lookup, certificate, report] = await Promise.all([
    checkHostLookup(connection),
    checkServiceCertificate(connection),
    examined(isLearning, context),
  ]);
  const { error, checks, keys, requests } = report;
  return {
    connection: [lookup, certificate, checkKey(error), checkClockDrift(report)],
    dialect: error === undefined ? checks : unexamined(error),
    keys: error === undefined ? keys : [],
    requests,
  };
}

function unchecked(why: ConfigError): ServiceReport {
  const skipped = (names: readonly string[]) => names.map((name) => skip(name, why));
  return { connection: skipped(pullChecks), dialect: skipped(dialectNames), keys: [], requests: 0 };
}

async function examined(isLearning: boolean, context: Context): Promise<DialectReport> {
  const service = await orConfigError(() => openService(context));
  if (!(service instanceof ConfigError)) return examineDialect(service, isLearning);
  // The command that gives the key failed: without a key nothing can be asked.
  return { error: service, requests: 0, drift: undefined, isReached: false, checks: [], keys: [] };
}

function checkKey(error: LeadsError | undefined): CheckResult {
  const name = 'service.key';
  if (error === undefined) return pass(name, 'accepted');
  // The service was reached, and its answer says nothing of the key.
  if (error instanceof DataError && !(error instanceof KeyRejectedError))
    return skip(name, 'the answer does not show whether it is accepted');
  return fail(name, error);
}

function unexamined(error: LeadsError): CheckResult[] {
  const isData = error instanceof DataError;
  const [envelope = '', ...further] = dialectNames;
  const why = error instanceof ConfigError ? 'there is no key' : 'the service did not answer';
  return [
    isData ? failedEnvelope(envelope, error) : skip(envelope, why),
    ...further.map((name) => skip(name, isData ? 'the answer holds no leads' : why)),
  ];
}

/** The specification's list operation takes GET; those of others may not. */
function failedEnvelope(name: string, error: LeadsError): CheckResult {
  const { status, message } = error;
  if (status !== 405 && !/\bPOST\b/.test(message)) return fail(name, error);
  const statusText = status === undefined ? '' : ` (${status})`;
  const detail = `the service wants POST there${statusText}, and lists are read by GET alone`;
  return fail(name, detail, 'if it has a list for GET, too: leads config set api.path /…');
}

async function printRecords(
  groups: readonly Group[],
  learnt: readonly LearntChange[],
  { stdout }: Pick<Context, 'stdout'>,
): Promise<void> {
  for (const [, checks] of groups)
    for (const { hint = null, ...check } of checks)
      await writeJson(stdout, { type: 'check', ...check, hint });
  for (const { key, value, evidence, old } of learnt)
    await writeJson(stdout, { type: 'learnt', key, value, evidence, ...(old !== undefined && { old }) });
}

const nameWidth = 12;

/** For people: a line for each check, and its hint below it; under `--quiet` nothing that is in order. */
function linesOf(
  groups: readonly Group[],
  learnt: readonly LearntChange[],
  isQuiet: boolean,
  style: Style,
): string[] {
  const { colours, width } = style;
  const isShown = ({ result }: CheckResult): boolean => !isQuiet || result === 'warn' || result === 'fail';
  const visible = groups.map(([title, checks]): Group => [title, checks.filter(isShown)]);
  const sections = visible
    .filter(([, checks]) => !isQuiet || checks.length > 0)
    .map(([title, checks]) => [
      colours.bold(sanitize(title)),
      ...alike(checks).flatMap((same) => checkLines(same, style)),
    ]);
  const changes = learnt.flatMap(({ key, value, evidence, old }) => {
    const former = old === undefined || old === value ? '' : ` (was ${valueText(old)})`;
    const reason = hanging(evidence, nameWidth + style.marks.pass.length + 2, width);
    return [
      `  ${sanitize(`${key} ${valueText(value)}${former}`)}`,
      ...reason.map((line) => colours.dim(line)),
    ];
  });
  if (changes.length > 0) sections.push([colours.bold('learnt'), ...changes]);
  return sections.map((lines) => `${lines.join('\n')}\n\n`);
}

const hanging = (text: string, columns: number, width: number): string[] =>
  wrap(sanitize(text), Math.max(20, width - columns)).map((line) => ' '.repeat(columns) + line);

function checkLines(
  same: readonly [CheckResult, ...CheckResult[]],
  { colours, marks, width }: Style,
): string[] {
  const [{ result, detail, hint }] = same;
  const paint = { pass: colours.green, warn: colours.yellow, fail: colours.red, skip: colours.dim };
  const names = same.map(({ name }) => name.slice(name.indexOf('.') + 1)).join(', ');
  const label = same.length === 1 ? `${names.padEnd(nameWidth)} ` : '';
  const columns = marks.pass.length + 1 + (same.length === 1 ? nameWidth + 1 : 0);
  const [first = '', ...further] = hanging(
    same.length === 1 ? detail : `${names}: ${detail}`,
    columns,
    width,
  );
  const hints = hint === undefined ? [] : hanging(`hint: ${hint}`, columns, width);
  const heading = `${paint[result](marks[result])} ${label}${first.trimStart()}`;
  return [heading, ...further, ...hints.map((line) => colours.dim(line))];
}

/** Checks in a row that were skipped for one reason stand in one line. */
function alike(checks: readonly CheckResult[]): [CheckResult, ...CheckResult[]][] {
  const groups: [CheckResult, ...CheckResult[]][] = [];
  for (const check of checks) {
    const last = groups.at(-1);
    const isSkip = last?.[0].result === 'skip' && check.result === 'skip';
    if (last !== undefined && isSkip && last[0].detail === check.detail) last.push(check);
    else groups.push([check]);
  }
  return groups;
}

/** An empty JSON Pointer is a value. */
const valueText = (value: unknown): string =>
  typeof value === 'string' && value !== '' ? value : JSON.stringify(value);

interface Summary extends Readonly<Record<CheckOutcome, number>> {
  readonly requests: number;
  /** Keys that `--learn` wrote; null where none was to be written. */
  readonly written: number | null;
}

function conclusionOf(summary: Summary, { colours, width }: Style): string {
  const { pass: passed, warn, fail: failed, skip: skipped, requests, written } = summary;
  const counts = `${passed} passed, ${warn} warning${warn === 1 ? '' : 's'}, ${failed} failed, ${skipped} skipped`;
  const requestCount = requests === 0 ? '' : `; ${requests} requests`;
  const saved = written === null ? '' : `; wrote ${written} key${written === 1 ? '' : 's'} to the profile`;
  const verdict = failed > 0 ? colours.red : colours.green;
  return `${wrap(`${counts}${requestCount}${saved}`, width)
    .map((line) => verdict(line))
    .join('\n')}\n`;
}
