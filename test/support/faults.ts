/** `npm run test:faults` runs the figures that the promises name; everything else a tenth of them. */
export const full = process.env['LEADS_FAULTS'] === 'full';

export const sized = (figure: number): number => (full ? figure : Math.ceil(figure / 10));

/** One line for each promise, with the figure. */
export function printFigure(promise: number, text: string): void {
  process.stdout.write(`promise ${promise}: ${text}\n`);
}
