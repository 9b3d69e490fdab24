/** The environment variables that are read. */
export const environmentVariables: readonly (readonly [name: string, meaning: string])[] = [
  ['LEADS_API_KEY', 'API key; goes before the stored one'],
  ['LEADS_BASE_URL', 'address of the service'],
  ['LEADS_PROFILE', 'which profile of the configuration file'],
  ['LEADS_CONFIG_DIR', 'directory of config.json'],
  ['LEADS_DATA_DIR', 'directory of the inbox and of the certificates that leads makes'],
  ['LEADS_INBOX', "the inbox, if not the profile's own: a file, or postgres://HOST/DATABASE"],
  ['PGPASSWORD, PGPASSFILE', 'password of that database, or the file that it is in; else ~/.pgpass'],
  ['LEADS_WEBHOOK_TOKEN', 'shared token of deliveries'],
  ['LEADS_WEBHOOK_SECRET', 'secret that deliveries are signed with'],
  ['HTTPS_PROXY, NO_PROXY', 'proxy for requests to the service, and hosts without one'],
  ['NODE_EXTRA_CA_CERTS', 'file with further certificate authorities'],
  ['NO_COLOR, FORCE_COLOR', 'never, or always, colours'],
  ['TERM=dumb', 'a terminal without colours and cursor movement'],
];
