import { styles } from '../support/moving-service.ts';
import { type Plan, planOf } from './world/plan.ts';

/** The world of a seed. */
export const planFor = (seed: number): Plan => planOf(seed, styles);
