import { sanitize } from '../sanitize.ts';
import { withoutCommands } from './workflow-command.ts';

/**
 * A line that makes GitHub Actions show a message at the run (docs.github.com, "Workflow commands"). Nothing in the texts
 * can end the command or begin another.
 */
export function annotation(level: 'error' | 'warning' | 'notice', title: string, message: string): string {
  return `::${level} title=${escapeProperty(title)}::${escapeData(message)}`;
}

const escapeData = (text: string): string =>
  withoutCommands(text.split('\n').map(sanitize).join('\n')).replaceAll('%', '%25').replaceAll('\n', '%0A');

const escapeProperty = (text: string): string =>
  escapeData(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
