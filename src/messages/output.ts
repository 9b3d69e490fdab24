import type { OutputProblem } from '../output/problems.ts';
import type { Messages } from './message.ts';

export const outputMessages: Messages<OutputProblem> = {
  'stdout-not-read': () => 'cannot write to stdout: its reader stopped reading',
};
