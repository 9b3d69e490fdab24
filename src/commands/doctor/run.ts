import { valueAt, withValue } from '../../config/check-config.ts';
import type { Settings } from '../../config/load-settings.ts';
import { readConfig } from '../../config/read-config.ts';
import { settingKeys } from '../../config/setting-keys.ts';
import { updateProfile } from '../../config/write-config.ts';
import type { Context, Outcome } from '../../context.ts';
import { type CheckOutcome, type CheckResult, fail, skip } from '../../doctor/check-result.ts';
import { checkConfig, checkFileMode, statConfig } from '../../doctor/config-file.ts';
import { checkDatabase, checkFreeSpace, checkInbox, probeStorage } from '../../doctor/inbox-opens.ts';
import {
  dialectChecks,
  type DialectReport,
  examineDialect,
  unexaminedDialect,
} from '../../doctor/learn/examine-dialect.ts';
import type { LearntKey } from '../../doctor/learn/examination.ts';
import { checkAuthority, checkIdFields, checkPort } from '../../doctor/receiver-setup.ts';
import {
  checkClockDrift,
  checkHostLookup,
  checkKey,
  checkServiceCertificate,
} from '../../doctor/service-connection.ts';
import { ConfigError, UsageError } from '../../errors.ts';
import { proxyFor } from '../../http/client/proxy.ts';
import { openService } from '../../service/client/service.ts';
import { formatSeconds } from '../../time/time-text.ts';
import { authorityFor, authorityKeyPath } from '../../tls/local-authority.ts';
import { resolveInbox } from '../flags/resolve-inbox.ts';
import type { DoctorOptions } from './command.ts';
import { type CheckGroup, type LearntChange, printerFor } from './print-checks.ts';

/**
 * Makes the checks of the service and of the receiver at the same time, prints their results, and with `--learn` writes the keys
 * of the dialect that were learnt to the profile. They are printed first: they are not lost where the profile cannot be written.
 */
export async function run(options: DoctorOptions, context: Context): Promise<Outcome> {
  const { clock, status, paths, platform } = context;
  const configBefore = statConfig(paths.configDir);
  // The copy reads every getter of the settings: one that throws is a fault of the configuration.
  const loaded = await orConfigError(async () => ({ ...(await context.settings()) }));
  if (options.learn) rejectLearning(loaded, context);
  const settings = loaded instanceof ConfigError ? undefined : loaded;
  const startedAt = clock.now();
  const activity = options.learn ? 'learning' : 'checking';
  status?.showProgress((now) => `${activity}, ${formatSeconds(now - startedAt)}`);
  try {
    const [service, receiver] = await Promise.all([
      checkService(settings, options.learn, context),
      checkReceiver(options, settings, context),
    ]);
    const groups: readonly CheckGroup[] = [
      { title: 'this machine', checks: [checkConfig(configBefore, loaded, platform)] },
      { title: `the service ${settings?.baseUrl?.origin ?? ''}`.trimEnd(), checks: service.connection },
      { title: 'its list of leads', checks: service.dialect },
      { title: 'receiving', checks: receiver },
    ];
    const isLearnt = options.learn && settings !== undefined;
    const changes = isLearnt ? changesOf(service.keys, settings, context) : [];
    status?.showProgress(undefined);
    const printer = await printerFor(options.format, context);
    await printer.printResults(groups, changes);
    if (isLearnt && changes.length > 0)
      await updateProfile(context, settings.profile, (stored) =>
        changes.reduce((profile, { path, value }) => withValue(profile, path, value), stored),
      );
    const results = groups.flatMap(({ checks }) => checks.map(({ result }) => result));
    const count = (outcome: CheckOutcome): number => results.filter((result) => result === outcome).length;
    const summary = {
      ...{ pass: count('pass'), warn: count('warn'), fail: count('fail'), skip: count('skip') },
      requests: service.requests,
      learnt: changes.length,
      written: changes.length > 0 ? changes.length : null,
    };
    await printer.printSummary(summary);
    return summary.fail > 0 ? 'problems' : 'done';
  } finally {
    status?.showProgress(undefined);
  }
}

/** Learning needs an account, and a profile of that service: its keys are not written to the profile of another one. */
function rejectLearning(loaded: Settings | ConfigError, { paths }: Pick<Context, 'paths'>): void {
  if (loaded instanceof ConfigError) throw loaded;
  loaded.account();
  const { profile, baseUrl } = loaded;
  const stored = readConfig(paths.configDir).profiles?.[profile]?.['base-url'];
  if (stored === undefined || baseUrl === undefined || new URL(stored).origin === baseUrl.origin) return;
  throw new UsageError(`profile '${profile}' is for ${stored}, and this is ${baseUrl.origin}`, {
    hint: 'name another --profile for it',
  });
}

interface ServiceReport extends Pick<DialectReport, 'keys' | 'requests'> {
  readonly connection: readonly CheckResult[];
  readonly dialect: readonly CheckResult[];
}

async function checkService(
  settings: Settings | undefined,
  isLearning: boolean,
  context: Context,
): Promise<ServiceReport> {
  if (settings === undefined) return skippedService();
  const account = await orConfigError(() => settings.account());
  const { baseUrl, timeoutMs } = settings;
  const failure = account instanceof ConfigError ? account : undefined;
  if (baseUrl === undefined || failure?.kind === 'no-api-key') return skippedService(failure);
  const { env, paths, clock, signal } = context;
  // `receiver.authority` reports an authority that cannot be read.
  const authority = await authorityFor(baseUrl, paths.dataDir).catch(() => undefined);
  const authorities = authority === undefined ? [] : [authority];
  const connection = { baseUrl, proxy: proxyFor(baseUrl, env), authorities, timeoutMs, clock, signal };
  const [lookup, certificate, report] = await Promise.all([
    checkHostLookup(connection),
    checkServiceCertificate(connection),
    examineList(isLearning, context),
  ]);
  const { error, checks, keys, requests } = report;
  const clockCheck = error instanceof ConfigError ? skip('service.clock', error) : checkClockDrift(report);
  return {
    connection: [lookup, certificate, checkKey(error), clockCheck],
    dialect: error === undefined ? checks : unexaminedDialect(error),
    keys: error === undefined ? keys : [],
    requests,
  };
}

const connectionChecks = ['service.dns', 'service.tls', 'service.key', 'service.clock'];

function skippedService(why = new ConfigError('the configuration cannot be read')): ServiceReport {
  const skipAll = (names: readonly string[]) => names.map((name) => skip(name, why));
  return { connection: skipAll(connectionChecks), dialect: skipAll(dialectChecks), keys: [], requests: 0 };
}

async function examineList(isLearning: boolean, context: Context): Promise<DialectReport> {
  const service = await orConfigError(() => openService(context));
  if (!(service instanceof ConfigError)) return examineDialect(service, isLearning);
  // The command that gives the key failed: without a key nothing can be asked.
  return { error: service, requests: 0, drift: undefined, isReached: false, checks: [], keys: [] };
}

async function checkReceiver(
  options: DoctorOptions,
  settings: Settings | undefined,
  context: Context,
): Promise<readonly CheckResult[]> {
  const { clock, paths, platform } = context;
  const [inbox, port, authority] = await Promise.all([
    checkInboxOf(options, settings ?? { profile: 'default' }, context),
    checkPort(options.host, options.port),
    checkAuthority(paths.dataDir, clock.now()),
  ]);
  const mode = checkFileMode('receiver.authority-mode', authorityKeyPath(paths.dataDir), platform);
  return [...inbox, ...(settings ? checkIdFields(settings) : []), port, authority, ...mode];
}

async function checkInboxOf(
  options: DoctorOptions,
  settings: Pick<Settings, 'profile'>,
  context: Context,
): Promise<readonly CheckResult[]> {
  const { paths, clock, platform } = context;
  const location = await orConfigError(() => resolveInbox(options, settings, context));
  if (location instanceof ConfigError) return [fail('receiver.inbox', location)];
  if (typeof location !== 'string') return checkDatabase(location);
  const storage = await probeStorage(location === ':memory:' ? `${paths.dataDir}/inbox.db` : location);
  const mode = checkFileMode('receiver.inbox-mode', location, platform);
  return [await checkInbox(location, storage, clock), ...mode, checkFreeSpace(storage)];
}

async function orConfigError<T>(step: () => T | Promise<T>): Promise<T | ConfigError> {
  try {
    return await step();
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
}

function changesOf(
  keys: readonly LearntKey[],
  { profile: profileName }: Settings,
  { paths }: Pick<Context, 'paths'>,
): LearntChange[] {
  const profile = readConfig(paths.configDir).profiles?.[profileName] ?? {};
  return settingKeys.flatMap(({ name, path }): LearntChange[] =>
    keys.filter(({ key }) => key === name).map((key) => ({ ...key, path, old: valueAt(profile, path) })),
  );
}
