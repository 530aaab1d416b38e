import type { Config } from '../config.ts';

/** Why the portal cannot listen, naming the setting to change. */
export function listenProblem(error: NodeJS.ErrnoException, { host, port }: Pick<Config, 'host' | 'port'>): string {
  const place = `${host.includes(':') ? `[${host}]` : host}:${port}`;
  switch (error.code) {
    case 'EADDRINUSE':
      return `${place} is taken by another process (perhaps another portal) – end that one, or set PORT to another port`;
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `this machine has no address ${host} – set HOST to one that it has, or to 0.0.0.0 for all of them`;
    case 'EACCES':
      return `this user may not listen at port ${port} – set PORT to one from 1024 on, and let the reverse proxy have ${port}`;
    default:
      return `${place} cannot be listened at: ${error.message}`;
  }
}
