/** Whole numbers from 0 to at least `most`, at most five. */
export function countTicks(most: number): number[] {
  const step = niceStep(Math.max(most, 1) / 4);
  const end = Math.ceil(Math.max(most, 1) / step) * step;
  return Array.from({ length: Math.round(end / step) + 1 }, (_, i) => i * step);
}

/** The next of 1, 2, 5, 10, 20, 50, … */
function niceStep(least: number): number {
  const power = 10 ** Math.max(0, Math.floor(Math.log10(least)));
  return [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= least) ?? power * 10;
}

const hour = 3_600_000;

/** Between two ticks of a time axis, in hours. */
const steps = [1 / 60, 1 / 30, 1 / 12, 1 / 6, 1 / 2, 1, 3, 6, 12, 24, 48, 120, 240];

/** What a text needs beside the next one; px. */
const tickWidth = 76;

const timeOfDay = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' });
const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' });

/** Round times of this place, as many as have room in that width, px. */
export function timeTicks(since: number, until: number, width: number): { at: number; text: string }[] {
  const step = steps.find((hours) => ((until - since) / (hours * hour)) * tickWidth <= width) ?? 240;
  const ticks = [];
  const date = new Date(since);
  date.setHours(0, 0, 0, 0);
  while (date.getTime() < until) {
    const at = date.getTime();
    const isMidnight = date.getHours() + date.getMinutes() === 0;
    if (at >= since) ticks.push({ at, text: (step >= 24 || isMidnight ? day : timeOfDay).format(at) });
    // Where the clock is changed a day is not of 24 hours.
    if (step >= 24) date.setDate(date.getDate() + step / 24);
    else date.setTime(at + step * hour);
  }
  return ticks;
}
