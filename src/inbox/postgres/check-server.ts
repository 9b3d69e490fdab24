import { ConfigError } from '../../errors.ts';
import { textOf } from '../sql/row.ts';
import { Query } from '../sql/statement.ts';
import type { StoreOptions } from '../store-options.ts';
import type { DatabaseLocation } from './database-location.ts';
import type { Session } from './session.ts';

/** In SQL, NULL where the server has not loaded the extension whose setting it is. */
const setting = (name: string): string => `current_setting('${name}', true)`;

/**
 * Settings by which the server logs the parameters of statements, which are the data that people sent: each with the value that turns
 * it off, and the condition in SQL under which any other value has an effect. The plans of auto_explain show the values as constants,
 * whatever the settings for parameters are, and a duration of 0 logs every plan.
 */
const loggingSettings: readonly (readonly [name: string, valueOff: string, condition: string])[] = [
  [
    'log_parameter_max_length',
    '0',
    `(${setting('log_statement')} IN ('mod', 'all') OR ${setting('log_min_duration_statement')} <> '-1'
      OR ${setting('log_min_duration_sample')} <> '-1' OR ${setting('log_transaction_sample_rate')} <> '0')`,
  ],
  ['log_parameter_max_length_on_error', '0', 'TRUE'],
  ['auto_explain.log_min_duration', '-1', 'TRUE'],
  ['pgaudit.log_parameter', 'off', `${setting('pgaudit.log')} <> 'none'`],
];

const namesIfOn = loggingSettings.map(
  ([name, valueOff, condition]) =>
    `CASE WHEN ${setting(name)} <> '${valueOff}' AND ${condition} THEN '${name}' END`,
);

/** `logging`: the names of the settings by which the server logs values, joined with commas. */
const serverState =
  new Query(`SELECT ${setting('fsync')} AS fsync, ${setting('full_page_writes')} AS full_page_writes,
  concat_ws(',', ${namesIfOn.join(', ')}) AS logging`);

/** Throws a `ConfigError` when the server would lose acknowledged leads. Warns of other settings that do harm. */
export async function checkServer(
  session: Session,
  location: DatabaseLocation,
  warn: StoreOptions['warn'],
): Promise<void> {
  const database = `the database of ${location.shown}`;
  const [[row = {}] = []] = await session.run([serverState]);
  if (row['fsync'] === 'off') {
    throw new ConfigError(`${database} has fsync=off: a power cut would lose acknowledged leads`, {
      hint: 'set fsync = on in postgresql.conf',
    });
  }
  if (row['full_page_writes'] === 'off') {
    const message = `${database} has full_page_writes=off: a power cut may damage it`;
    warn({ kind: 'postgres-without-full-pages', message });
  }
  const namesThatLog = textOf(row['logging']).split(',');
  const logging = loggingSettings.filter(([name]) => namesThatLog.includes(name));
  if (logging.length > 0) {
    const assignments = logging.map(([name, valueOff]) => `${name} = ${valueOff}`);
    warn({
      kind: 'postgres-logs-values',
      message: `${database} writes what people sent into its log: ${namesThatLog.join(', ')} is not off`,
      hint: `set ${assignments.join(', ')} there`,
    });
  }
}
