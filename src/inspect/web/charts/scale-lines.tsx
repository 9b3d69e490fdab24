import type { VNode } from 'preact';
import { frame, yOf } from './chart-frame.ts';

interface ScaleLinesProps {
  readonly width: number;
  readonly ticks: readonly { readonly share: number; readonly text: string }[];
}

export function ScaleLines({ width, ticks }: ScaleLinesProps): VNode {
  return (
    <g class="axis">
      {ticks.map(({ share, text }) => (
        <g key={text}>
          <line x1={frame.left} x2={width} y1={yOf(share)} y2={yOf(share)} />
          <text x={frame.left - 8} y={yOf(share)} dy="0.32em" text-anchor="end">
            {text}
          </text>
        </g>
      ))}
    </g>
  );
}
