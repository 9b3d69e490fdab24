const isoTime = /^\d{4}-(\d\d-\d\d)T(\d\d:\d\d:\d\d)/;

/** ISO 8601 times of one column in fewer columns: `HH:MM:SS` where all are of one day, else with month and day before. */
export function shortTimes(cells: readonly string[]): string[] {
  const days = new Set(cells.filter((cell) => isoTime.test(cell)).map((cell) => cell.slice(0, 10)));
  return cells.map((cell) => {
    const [, day, time] = isoTime.exec(cell) ?? [];
    if (day === undefined || time === undefined) return cell;
    return days.size === 1 ? time : `${day} ${time}`;
  });
}
