import { saveBlob } from '../state/delivery-actions.ts';

/** What the style sheet says of the parts of a chart: a file of its own has none. */
const inlined = ['fill', 'opacity', 'stroke', 'font-size'];
const parts = 'rect, line, text';

/** Around the chart, with room for a title and legend above it; px. */
const edge = 16;
const titleHeight = 28;
const lineHeight = 20;
const legendWidth = 96;

/** The chart of a figure, with its title and legend, as it is drawn now. */
export async function saveChart(figure: Element, form: 'svg' | 'png'): Promise<void> {
  const drawn = figure.querySelector('.chart-place svg');
  if (drawn === null) return;
  const title = figure.querySelector('h3')?.textContent ?? '';
  const { width, height, text } = chartFile(drawn, title, [...figure.querySelectorAll('.legend-item')]);
  const svg = new Blob([text], { type: 'image/svg+xml' });
  const name = `${title.toLowerCase().replaceAll(/\W+/g, '-')}.${form}`;
  saveBlob(form === 'svg' ? svg : await pngOf(svg, width, height), name);
}

function chartFile(
  drawn: Element,
  title: string,
  legend: readonly Element[],
): { readonly text: string; readonly width: number; readonly height: number } {
  const inner = drawn.getBoundingClientRect();
  const perLine = Math.max(1, Math.floor(inner.width / legendWidth));
  const above = titleHeight + Math.ceil(legend.length / perLine) * lineHeight;
  const width = Math.ceil(inner.width) + 2 * edge;
  const height = Math.ceil(inner.height) + above + 2 * edge;
  const file = drawn.cloneNode(true) as Element;
  const styled = drawn.querySelectorAll(parts);
  for (const [i, copy] of file.querySelectorAll(parts).entries()) {
    const style = getComputedStyle(styled[i] ?? drawn);
    for (const name of inlined) copy.setAttribute(name, style.getPropertyValue(name));
    if (copy.classList.contains('pointed')) copy.remove();
  }
  const { color, backgroundColor, fontFamily } = getComputedStyle(drawn.closest('figure') ?? drawn);
  const [left, top] = [-edge, -above - edge];
  file.prepend(
    element('rect', { x: left, y: top, width, height, fill: backgroundColor }),
    element('text', { x: 0, y: top + edge + 14, 'font-size': 15, 'font-weight': 600, fill: color }, title),
    ...legend.flatMap((item, i) => {
      const x = (i % perLine) * legendWidth;
      const y = top + edge + titleHeight + Math.floor(i / perLine) * lineHeight;
      const fill = getComputedStyle(item.firstElementChild ?? item).getPropertyValue('--bar');
      return [
        element('rect', { x, y, width: 10, height: 10, rx: 2, fill }),
        element('text', { x: x + 16, y: y + 9, 'font-size': 12, fill: color }, item.textContent.trim()),
      ];
    }),
  );
  const frame = { 'font-family': fontFamily, width, height, viewBox: `${left} ${top} ${width} ${height}` };
  for (const [name, value] of Object.entries(frame)) file.setAttribute(name, String(value));
  return { text: new XMLSerializer().serializeToString(file), width, height };
}

function element(name: string, attributes: Readonly<Record<string, string | number>>, text = ''): Element {
  const made = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  made.textContent = text;
  return made;
}

/** Two pixels for each one of the page: for slides and paper. */
async function pngOf(svg: Blob, width: number, height: number): Promise<Blob> {
  const image = new Image();
  image.src = URL.createObjectURL(svg);
  try {
    await image.decode();
    const canvas = new OffscreenCanvas(2 * width, 2 * height);
    canvas.getContext('2d')?.drawImage(image, 0, 0, canvas.width, canvas.height);
    return await canvas.convertToBlob();
  } finally {
    URL.revokeObjectURL(image.src);
  }
}
