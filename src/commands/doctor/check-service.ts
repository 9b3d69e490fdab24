import type { Context } from '../../context.ts';
import { isLoopback } from '../../config/base-url.ts';
import type { Settings } from '../../config/load-settings.ts';
import { type CheckResult, checkNamed } from '../../doctor/check-result.ts';
import { dialectChecks, type Examination } from '../../doctor/dialect/dialect-findings.ts';
import { examineDialect } from '../../doctor/dialect/examine-dialect.ts';
import { checkClockDrift } from '../../doctor/clock-drift.ts';
import {
  checkHostLookup,
  checkServiceCertificate,
  type Connection,
} from '../../doctor/service-connection.ts';
import { ConfigError, DataError, KeyRejectedError, type LeadsError } from '../../errors.ts';
import { proxyFor } from '../../http/client/proxy.ts';
import { openService } from '../../service/client/service.ts';
import type { ErrorWords } from '../../service/problems.ts';
import { readAuthority } from '../../tls/local-authority.ts';

/** What the pull side turned out to be. */
export interface ServiceReport {
  readonly connection: Promise<readonly CheckResult[]>;
  readonly dialect: Promise<readonly CheckResult[]>;
  /** Undefined without a key or base URL. */
  readonly examination: Promise<Examination | undefined>;
}

const pullChecks = ['service.dns', 'service.tls', 'service.key', 'service.clock'];
const dialectNames = [
  ...['envelope', 'pagination', 'page-size', 'status', 'category', 'since', 'until', 'status-field', 'order'],
  'rate-limit',
].map((name) => `dialect.${name}`);

/** Starts the checks of the service; what takes longest does not keep the others waiting. */
export function checkService(
  settings: Settings | undefined,
  isLearning: boolean,
  context: Context,
): ServiceReport {
  if (settings === undefined) return unchecked(new ConfigError('the configuration cannot be read'));
  const missing = accountProblem(settings);
  if (missing !== undefined) return unchecked(missing);
  const examination = openService(context).then((service) => examineDialect(service, isLearning), withoutKey);
  const connection = connectionOf(settings, context);
  return {
    connection: Promise.all([
      connection.then(checkHostLookup),
      connection.then(checkServiceCertificate),
      examination.then((found) => checkKey(found, 'apiKeyCommand' in settings.account())),
      examination.then(checkClockDrift),
    ]),
    dialect: examination.then((found) =>
      found.kind === 'examined'
        ? dialectChecks(found, settings.dialect, isLearning)
        : unexamined(found.error),
    ),
    examination,
  };
}

function unchecked(why: LeadsError): ServiceReport {
  const skipped = (names: readonly string[]): Promise<CheckResult[]> =>
    Promise.resolve(names.map((name) => checkNamed(name).skip(why)));
  return {
    connection: skipped(pullChecks),
    dialect: skipped(dialectNames),
    examination: Promise.resolve(undefined),
  };
}

/** The command that gives the key failed: without a key nothing can be asked. */
function withoutKey(error: unknown): Examination {
  if (!(error instanceof ConfigError)) throw error;
  return { kind: 'failed', error, drift: undefined, isReached: false };
}

async function connectionOf(settings: Settings, { env, paths, clock, signal }: Context): Promise<Connection> {
  const { baseUrl } = settings.account();
  const own = isLoopback(baseUrl.hostname) ? await readAuthority(paths.dataDir) : undefined;
  return {
    baseUrl,
    proxy: proxyFor(baseUrl, env),
    authorities: own === undefined ? [] : [own],
    timeoutMs: settings.timeoutMs,
    clock,
    signal,
  };
}

function accountProblem(settings: Settings): LeadsError | undefined {
  try {
    settings.account();
    return undefined;
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
}

function checkKey(found: Examination, isFromCommand: boolean): CheckResult {
  const check = checkNamed('service.key');
  if (found.kind === 'examined')
    return check.pass(isFromCommand ? 'accepted; it is what api-key-command prints' : 'accepted');
  const { error } = found;
  if (error instanceof KeyRejectedError) return check.fail(error);
  // The service was reached, and its answer says nothing of the key.
  if (error instanceof DataError) return check.skip('the answer does not show whether it is accepted');
  return check.fail(error);
}

function unexamined(error: LeadsError): CheckResult[] {
  const why =
    error instanceof DataError
      ? 'the answer holds no leads'
      : error instanceof ConfigError
        ? 'there is no key'
        : 'the service did not answer';
  return dialectNames.map((name) =>
    error instanceof DataError && name === 'dialect.envelope'
      ? checkNamed(name).fail(wantsPost(error) ? { kind: 'list-by-post', status: error.status } : error)
      : checkNamed(name).skip(why),
  );
}

/** The specification's list operation takes GET; those of others may not. */
function wantsPost({ status, problem }: LeadsError): boolean {
  const { words } = (problem ?? {}) as { readonly words?: ErrorWords };
  return status === 405 || /\bPOST\b/.test(`${words?.error ?? ''} ${words?.message ?? ''}`);
}
