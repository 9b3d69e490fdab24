import type { Position } from '../../../service/pagination/position.ts';
import type { DialectAsker } from '../dialect-asker.ts';
import { faultOfWalk } from './behind-front.ts';
import type { PositionFinding } from './find-position.ts';

/** Walks over two pages in the dialect in force, as an export would. */
export async function tryPosition(
  asker: DialectAsker,
  front: readonly string[],
  size: number | undefined,
): Promise<PositionFinding> {
  const { dialect } = asker;
  const walked = await asker.walk(dialect, size);
  const hint = "'leads doctor --learn' looks for the parameters that it pages by";
  if (walked.kind === 'pages' && walked.second.length === 0 && walked.first.length >= front.length) {
    return {
      kind: 'found',
      dialect,
      style: 'one page',
      evidence: `all ${walked.first.length} leads came at once`,
    };
  }
  const fault = faultOfWalk(front, walked);
  if (fault !== undefined) return { kind: 'undecided', why: fault, hint };
  const style = walked.kind === 'pages' && walked.next !== undefined ? styleText(walked.next) : 'pages';
  return { kind: 'found', dialect, style, evidence: 'two pages followed each other' };
}

function styleText(position: Position): string {
  switch (position.style) {
    case 'start':
      return 'pages';
    case 'url':
      return 'next URL';
    case 'cursor':
      return `${position.is === 'id' ? 'last id' : 'cursor'} in ${position.param}`;
    case 'page':
      return `page number in ${position.param}`;
    case 'offset':
      return `offset in ${position.param}`;
  }
}
