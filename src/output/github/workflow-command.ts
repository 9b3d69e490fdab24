/**
 * The text with every workflow command of GitHub Actions in it broken. A command stands at the beginning of a line, even
 * behind blanks; its older form stands anywhere in a line.
 */
export const withoutCommands = (text: string): string =>
  text.replace(/^([ \t]*):(?=:)/gm, '$1: ').replaceAll('##[', '# #[');
