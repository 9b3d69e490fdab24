import type { Context } from '../../context.ts';
import { asksForAscii } from './character-set.ts';

/** What stands before a line that says how a check ended, all of one width. */
export interface Marks {
  readonly pass: string;
  readonly fail: string;
  readonly warn: string;
  readonly skip: string;
}

const drawn: Marks = { pass: '✓', fail: '✗', warn: '!', skip: '-' };
const ascii: Marks = { pass: 'ok', fail: 'X ', warn: '! ', skip: '- ' };

/** Signs, or plain ASCII where locale or `TERM` ask for it. */
export const marksFor = (context: Pick<Context, 'env'>): Marks => (asksForAscii(context) ? ascii : drawn);
