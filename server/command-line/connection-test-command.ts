import type { Command } from 'commander';
import type { CheckStep } from '../single-sign-on/check-step.ts';
import { listSsoConnections, type SsoConnection } from '../storage/sso-connection.ts';
import { printCheck } from './doctor-command.ts';
import { exitCodes, failure } from './failure.ts';
import { printJson } from './print.ts';
import { type Keyed, withKeys } from './with-keys.ts';

/** `vestibule connection test` */
export function addConnectionTestCommand(connection: Command): void {
  connection
    .command('test')
    .argument('[key]', 'the connection (default: all enabled ones)')
    .description('check everything at the provider that can be checked without signing in, and name the wrong field')
    .option('--json', 'print the checks as JSON: {connection, step, ok, words}')
    .action((key: string | undefined, { json }: { json?: true }) =>
      withKeys(async (keyed) => {
        const connections = (await listSsoConnections(keyed.sql)).filter((found) =>
          key === undefined ? found.active : found.key === key,
        );
        if (connections.length === 0)
          throw failure(key === undefined ? 'There are no connections yet.' : `There is no connection ${key}.`);
        const reports = connections.map(async (found) =>
          (await checksOf(keyed, found)).map((check) => ({ connection: found.key, ...check })),
        );
        const checks = (await Promise.all(reports)).flat();
        if (json) printJson(checks);
        else
          for (const { connection, step, ...check } of checks) printCheck({ ...check, check: `${connection} ${step}` });
        if (checks.some(({ ok }) => ok === false)) process.exitCode = exitCodes.refused;
      }),
    );
}

/** The report on a connection. Code used only by this command is loaded on demand. */
async function checksOf(keyed: Keyed, connection: SsoConnection): Promise<CheckStep[]> {
  if (connection.protocol === 'oidc') {
    const { checkOidc } = await import('../single-sign-on/oidc/check-oidc.ts');
    return await checkOidc(keyed, connection);
  }
  const { checkSaml } = await import('../single-sign-on/saml/check-saml.ts');
  const { openConversation } = await import('../single-sign-on/provider-fetch.ts');
  return await checkSaml(connection, { now: keyed.now(), conversation: openConversation(connection.providerNetworks) });
}
