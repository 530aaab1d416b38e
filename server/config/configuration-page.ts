import { ConfigFile } from './config-file.ts';

/** What the environment says, in the order of the page: the default, and the meaning. */
const environment: Record<string, [by: string, meaning: string]> = {
  PORT: ['`8080`', 'port to listen on'],
  HOST: ['`127.0.0.1`', 'address to listen on'],
  PUBLIC_URL: ['`http://localhost:<PORT>`', 'origin that visitors see; https, or http for localhost'],
  DATABASE_URL: ['none', 'PostgreSQL; without it the portal runs its own in the data folder'],
  VESTIBULE_DATA: ['`./data`', 'data folder: the built-in database, its secrets, the outbox'],
  VESTIBULE_CONFIG: ['`./vestibule.config.json` if present', 'configuration file'],
  VESTIBULE_SECRET: [
    'made and kept in the data folder',
    'at least 32 characters; required with `DATABASE_URL`, the same on every instance; several with commas to [change it](operating.md#change-the-secret)',
  ],
  VESTIBULE_HUB_SECRET: [
    'none',
    '32 to 200 characters, sent to the hub as `X-Vestibule-Hub-Secret` ([why](hub.md#nothing-but-the-portal-reaches-the-hub))',
  ],
  SMTP_URL: [
    'none: emails are files in the data folder',
    '`smtps://user:password@host:465`, or `smtp://user:password@host:587` with STARTTLS; user and password percent-encoded ([mail](operating.md#mail))',
  ],
  METRICS_TOKEN: [
    'none: no `/metrics`',
    'at least 16 characters; bearer token of [`GET /metrics`](operating.md#metrics)',
  ],
  LOG_LEVEL: ['`info`', '`debug`, `info`, `warn` or `error`'],
};

/** `docs/configuration.md`, written by `node server/config/configuration-page.ts > docs/configuration.md`. */
export function configurationPage(): string {
  const variables = Object.entries(environment).map(([name, [by, meaning]]) => `| \`${name}\` | ${by} | ${meaning} |`);
  const settings = settingsOf(ConfigFile).map(
    ({ path, by, meaning }) => `| \`${path}\` | ${by === undefined ? '–' : `\`${by}\``} | ${meaning} |`,
  );
  return `# Configuration

\`./vestibule config check\` names each wrong setting; the server refuses to start with the same messages. Limits that aren't configurable are in
[\`server/limits.ts\`](../server/limits.ts).

## Environment

| variable | default | meaning |
|---|---|---|
${variables.join('\n')}

\`DATABASE_URL\`, \`VESTIBULE_SECRET\`, \`SMTP_URL\` and \`METRICS_TOKEN\` may be in files: \`DATABASE_URL_FILE\` is the path of a
file with the value of \`DATABASE_URL\`, and so on.

## File

JSON; [\`vestibule.config.schema.json\`](../vestibule.config.schema.json) completes and checks it in an editor.

| setting | default | meaning |
|---|---|---|
${settings.join('\n')}
`;
}

type Node = { type?: string; properties?: Record<string, Node>; items?: Node; description?: string; default?: unknown };
type Setting = { path: string; by: string | undefined; meaning: string };

/** The settings that have a description, in the schema's order, each with its whole path. */
function settingsOf({ properties = {} }: Node, before = ''): Setting[] {
  return Object.entries(properties).flatMap(([name, node]) => {
    const path = before + name;
    const own = node.description
      ? [{ path, by: node.default === undefined ? undefined : String(node.default), meaning: node.description }]
      : [];
    return [...own, ...settingsOf(node, `${path}.`), ...(node.items ? settingsOf(node.items, `${path}[].`) : [])];
  });
}

if (import.meta.main) process.stdout.write(configurationPage());
