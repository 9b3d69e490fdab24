import { type Command, Option } from 'commander';

/** How deliveries are authenticated, the same on every command that receives or sends them; see `schemeShape`. */
export function addSchemeFlags(command: Command, heading = 'Who may deliver:'): void {
  const several = (flags: string, text: string): Option =>
    new Option(flags, text).argParser((value, before: string[] | undefined) => [...(before ?? []), value]);
  command
    .optionsGroup(heading)
    .addOption(several('--token <token>', 'shared token in x-webhook-token (repeatable)'))
    .addOption(several('--token-file <file>', 'the same, from a file (- for stdin)'))
    .option(
      '--scheme <name>',
      'token, standard-webhooks, svix, stripe, github, slack, shopify, rfc9421, custom',
    )
    .addOption(
      several('--secret <secret>', "the scheme's secret, for rfc9421 also a PEM or JWK (repeatable)"),
    )
    .addOption(several('--secret-file <file>', 'the same, from a file (- for stdin)'))
    .option('--tolerance <duration>', 'how far a signed time may be off (default: 5m)')
    .option('--no-verify', 'no authentication at all')
    .optionsGroup('Options:');
}

/** The rest of them, which stand last in a command's help: few services need them. */
export function addRecipeFlags(command: Command): void {
  command
    .optionsGroup('For --scheme custom:')
    .option('--signature-header <name>', 'header that holds the signature')
    .option('--algorithm <name>', 'hmac-sha256 (default), hmac-sha512 or hmac-sha1')
    .option('--encoding <name>', 'of the signature: hex (default), base64 or base64url')
    .option('--prefix <text>', 'before the signature, such as sha256=')
    .option('--signed-content <template>', 'of {timestamp} {nonce} {id} {method} {url} {path} {body}')
    .option('--timestamp-header <name>', 'header that holds the signed time')
    .option('--timestamp-format <form>', 'unix (default), milliseconds or iso')
    .option('--nonce-header <name>', 'header that holds the signed nonce or delivery id')
    .option('--secret-encoding <name>', 'of the secret: utf8 (default), hex, base64 or whsec')
    .optionsGroup('Options:');
}
