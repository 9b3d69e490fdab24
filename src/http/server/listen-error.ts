import { ConfigError, type LeadsError, UsageError } from '../../errors.ts';

/**
 * Why no socket could be opened, as an error that says what the user can change. `flag`: where one flag names both host and
 * port.
 */
export function listenError(
  error: NodeJS.ErrnoException,
  host: string,
  port: number,
  flag?: string,
): LeadsError {
  const address = `${host}:${port}`;
  const details = { cause: error };
  switch (error.code) {
    case 'EADDRINUSE':
      return new ConfigError(`${address} is in use by another program`, {
        ...details,
        hint: `give another ${flag ?? '--port'}, or ${flag ?? '--port'} 0 for any that is free`,
      });
    case 'EACCES':
      return new ConfigError(`no permission to listen on ${address}`, {
        ...details,
        hint: `ports below 1024 are the system’s: give another ${flag ?? '--port'}`,
      });
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
    case 'EINVAL':
    case 'EAFNOSUPPORT':
      return new UsageError(`${flag ?? '--host'}: '${host}' is not an address of this machine`, {
        ...details,
        hint: '127.0.0.1 is reached from this machine only, 0.0.0.0 from everywhere',
      });
    default:
      return new ConfigError(`cannot listen on ${address}: ${error.message}`, details);
  }
}
