import { ConfigError } from '../../errors.ts';
import { numberOf, textOf } from '../sql/row.ts';
import { Query } from '../sql/statement.ts';
import type { StoreOptions } from '../store-options.ts';
import type { DatabaseLocation } from './connection/database-location.ts';
import type { Session } from './session.ts';

const version14 = 140_000;

/** Settings by which the server logs parameters, which are the data that people sent, each with the condition in SQL that it does. */
const loggingSettings = [
  [
    'log_parameter_max_length',
    `current_setting('log_parameter_max_length') <> '0' AND (current_setting('log_statement') IN ('mod', 'all')
      OR current_setting('log_min_duration_statement') <> '-1' OR current_setting('log_min_duration_sample') <> '-1'
      OR current_setting('log_transaction_sample_rate') <> '0')`,
  ],
  ['log_parameter_max_length_on_error', `current_setting('log_parameter_max_length_on_error') <> '0'`],
  // A plan shows the values as constants, whatever the settings for parameters are.
  ['auto_explain.log_min_duration', `current_setting('auto_explain.log_min_duration', true) <> '-1'`],
  [
    'pgaudit.log_parameter',
    `current_setting('pgaudit.log', true) <> 'none' AND current_setting('pgaudit.log_parameter', true) = 'on'`,
  ],
] as const;

const serverState = new Query(`SELECT current_setting('server_version_num')::int4 AS number,
  current_setting('server_version') AS version, current_setting('fsync') AS fsync,
  current_setting('full_page_writes') AS full_page_writes,
  concat_ws(', ', ${loggingSettings.map(([name, isOn]) => `CASE WHEN ${isOn} THEN '${name}' END`).join(', ')}) AS logging`);

/** Throws a `ConfigError` when the server is too old or would lose acknowledged leads. Warns of other settings that do harm. */
export async function checkServer(
  session: Session,
  location: DatabaseLocation,
  warn: StoreOptions['warn'],
): Promise<void> {
  const database = `the database of ${location.shown}`;
  const [[row = {}] = []] = await session.run([serverState]);
  if (numberOf(row['number']) < version14) {
    throw new ConfigError(`${database} is PostgreSQL ${textOf(row['version'])}`, {
      hint: 'version 14 or newer is needed',
    });
  }
  if (row['fsync'] === 'off') {
    throw new ConfigError(`${database} has fsync=off: a power cut would lose acknowledged leads`, {
      hint: 'set fsync = on in postgresql.conf',
    });
  }
  if (row['full_page_writes'] === 'off') {
    const message = `${database} has full_page_writes=off: a power cut may damage it`;
    warn({ kind: 'postgres-without-full-pages', message });
  }
  const logging = textOf(row['logging']);
  if (logging !== '') {
    warn({
      kind: 'postgres-logs-values',
      message: `${database} writes what people sent into its log: ${logging} is not off`,
      hint: 'set the lengths to 0 there, and pgaudit.log_parameter to off',
    });
  }
}
