import type { Behaviour, Switch } from './behaviour.ts';

/** What the pages and the endpoints of the OpenID provider share. */
export type OpenIdState = {
  /** Known once it listens. */
  issuer: string;
  behaviour: Switch;
  /** The secret of each client: one client for each connection. */
  secrets: ReadonlyMap<string, string>;
  /** Who was picked, by the code that the browser carries to the portal; each can be taken once. */
  codes: Map<string, Granted>;
};

/** A visit: what the portal asked for, as which client. */
export type Visit = { asked: URLSearchParams; client: string };

export type Granted = Visit & { email: string; behaviour: Behaviour };
