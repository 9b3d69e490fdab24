export interface SecretChange {
  /** Completes "with the secret …". */
  readonly text: string;
  readonly apply: (secret: string) => string;
  /** Makes the changed secret from `$SECRET`, in any shell of POSIX. */
  readonly shell: string;
}

export const secretChanges: readonly SecretChange[] = [
  {
    text: 'without the blanks at its ends',
    apply: (secret) => secret.replace(/[ \t\r\n]/g, ''),
    shell: String.raw`"$(printf %s "$SECRET" | tr -d ' \t\r\n')"`,
  },
  {
    text: 'with a line break at its end',
    apply: (secret) => `${secret}\n`,
    // The usual IFS is a blank, a tab and a line break; `$(…)` would lose a line break at its end.
    shell: '"$SECRET${IFS#??}"',
  },
  {
    text: 'without the quotes around it',
    apply: (secret) => secret.replace(/^(["'])(.*)\1$/s, '$2'),
    shell: '"$(s=${SECRET#?}; printf %s "${s%?}")"',
  },
  {
    text: "without its 'whsec_'",
    apply: (secret) => secret.replace(/^whsec_/, ''),
    shell: '"${SECRET#whsec_}"',
  },
  { text: "with 'whsec_' before it", apply: (secret) => `whsec_${secret}`, shell: '"whsec_$SECRET"' },
  {
    text: "without its 'v1,'",
    apply: (secret) => secret.replace(/^v1a?,/, ''),
    shell: '"${SECRET#v1*,}"',
  },
  { text: 'in single quotes', apply: (secret) => `'${secret}'`, shell: `"'$SECRET'"` },
  { text: 'in double quotes', apply: (secret) => `"${secret}"`, shell: `'"'"$SECRET"'"'` },
];
