import type { Machine } from '../kernel/machine.ts';
import type { SimProcess } from '../kernel/process.ts';
import type { Random } from '../kernel/random.ts';
import type { Plan } from './plan.ts';
import type { Truth } from './truth.ts';

/** What whoever starts processes in a world is given. */
export interface ActorOptions {
  readonly plan: Plan;
  readonly machine: Machine;
  readonly random: Random;
  readonly truth: Truth;
  readonly clockError: () => number;
  readonly nextPid: () => number;
  /** Of what is printed; `text` may hold several lines. */
  readonly onOutput: (process: SimProcess, text: string) => void;
}
