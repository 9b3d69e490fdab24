/** The verdict on a lead, or what a target made of it. */
const said = [
  'accepted', 'duplicate', 'rejected',
  'forward done at first', 'forward done again', 'forward waiting at first', 'forward waiting again', 'forward dead again',
] as const; // prettier-ignore

/** Where the receiver that says so crashed last; `start`: it has not. */
const crashes = [
  'start', 'idle', 'before-commit', 'during-commit', 'after-commit', 'forwarding', 'answering', 'power-loss',
] as const; // prettier-ignore

/** The product of both. */
export const possibleTransitions: readonly string[] = said.flatMap((what) =>
  crashes.map((crash) => `${what} after ${crash}`),
);

/** Possible and not counted, since each takes a first attempt that begins when the lead has waited so long already. */
export const seldomTransitions: readonly string[] = crashes.map(
  (crash) => `forward dead at first after ${crash}`,
);
