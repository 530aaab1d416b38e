import type { Config } from '../config/config.ts';

/** Why the portal cannot listen, naming the setting to change. */
export function listenProblem(error: NodeJS.ErrnoException, { host, port }: Pick<Config, 'host' | 'port'>): string {
  const place = `${host.includes(':') ? `[${host}]` : host}:${port}`;
  switch (error.code) {
    case 'EADDRINUSE':
      return `${place} is in use by another process (perhaps another portal) – stop it, or set PORT to another port`;
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `this machine has no address ${host} – set HOST to one it has, or to 0.0.0.0 for all`;
    case 'EACCES':
      return `this user may not listen on port ${port} – set PORT to 1024 or above, and leave ${port} to the reverse proxy`;
    default:
      return `cannot listen on ${place}: ${error.message}`;
  }
}
