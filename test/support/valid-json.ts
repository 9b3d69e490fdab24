import Ajv, { type ValidateFunction } from 'ajv/dist/2020.js';
import { jsonSchemas } from '../../.config/schemas/json-schemas.ts';

const ajv = new Ajv({ strict: false, validateFormats: false });
const validators = new Map<string, ValidateFunction>();

function validatorOf(name: string): ValidateFunction | undefined {
  const schema = jsonSchemas('closed').get(name);
  if (schema === undefined) return undefined;
  const known = validators.get(name) ?? ajv.compile(schema);
  validators.set(name, known);
  return known;
}

/** Throws where what a run printed as JSON is not what its schema says, to the last field. */
export function requireValidJson(argv: readonly string[], stdout: string, stderr: string): void {
  const isJson = argv.includes('--json') || argv.join(' ').includes('--format json');
  if (!isJson || argv.some((word) => word.startsWith('--jq') || word === '--help')) return;
  const [command = ''] = argv;
  if (command in oneDocument) check(command, stdout === '' ? [] : [stdout]);
  check(
    'error',
    stderr.split('\n').filter((line) => line.startsWith('{"error":')),
  );
}

/** Whether a command prints one document, or one a line. */
const oneDocument: Readonly<Record<string, boolean>> = {
  stats: true,
  verify: true,
  check: false,
  doctor: false,
};

function check(name: string, texts: readonly string[]): void {
  const validate = validatorOf(name);
  const documents = oneDocument[name] === false ? texts.flatMap((text) => text.trim().split('\n')) : texts;
  for (const text of documents) {
    if (validate === undefined || validate(JSON.parse(text))) continue;
    throw new Error(`not what the schema of ${name} says: ${ajv.errorsText(validate.errors)}\n${text}`);
  }
}
