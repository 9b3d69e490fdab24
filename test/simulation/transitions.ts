/** What an event says of a lead, with what the targets said of it just then. */
const verdictsAndTargets = [
  'accepted settled', 'duplicate untouched', 'duplicate settled', 'pending untouched', 'pending settled',
  'pending pending', 'rejected untouched',
] as const; // prettier-ignore

/** Where the receiver that says so crashed last; `start`: it has not. */
const crashes = [
  'start', 'idle', 'before-commit', 'during-commit', 'after-commit', 'forwarding', 'answering', 'power-loss',
] as const; // prettier-ignore

/** The product of verdict, state of the targets and crash, without what cannot be. */
export const possibleTransitions: readonly string[] = verdictsAndTargets.flatMap((said) =>
  crashes.map((crash) => `${said} after ${crash}`),
);

/**
 * Possible and not counted, since each takes a race: a target refuses a lead, another receiver's try of that target is taken
 * meanwhile, and the first receiver's other target is the last one to take it; or the last one takes it in a try that
 * another copy began, and this copy is the first to hear of it.
 */
export const seldomTransitions: readonly string[] = ['accepted pending', 'accepted untouched'].flatMap(
  (said) => crashes.map((crash) => `${said} after ${crash}`),
);
