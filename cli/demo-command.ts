import { existsSync } from 'node:fs';
import { relative } from 'node:path';
import { type Command, Option } from 'commander';
import type { RunningDemo } from '#demo/run-demo.ts';
import { root } from '#server/config/root.ts';
import { exitCodes, factsOf, failure, printJson, printLine, printWarning, tableOf } from './print.ts';

/** `vestibule demo` */
export function addDemoCommand(program: Command): void {
  program
    .command('demo')
    .description('show everything with made-up people, a hub and identity providers, until it is stopped')
    .addOption(new Option('--port <number>', "the portal's port (default: 8080, or a free one)").env('PORT'))
    .option('--host [address]', 'also for phones: listen at this address of the machine in its network, by https')
    .option('--json', 'print addresses and accounts as JSON, once it is ready')
    .addHelpText(
      'after',
      '\nNothing is kept. Without --host, only this machine is served. Refuses to run where a real portal is configured.',
    )
    .action(runDemoCommand);
}

type Flags = { port?: string; host?: string | true; json?: true };

async function runDemoCommand({ port, host, json }: Flags): Promise<void> {
  const wanted = port === undefined ? null : Number(port);
  if (wanted !== null && !(Number.isInteger(wanted) && wanted > 0 && wanted < 65_535))
    throw failure('--port: must be a number from 1 to 65534.');
  const [{ productionSettings }, { runDemo }, { networkAddresses }] = await Promise.all([
    import('#demo/settings.ts'),
    import('#demo/run-demo.ts'),
    import('#demo/place.ts'),
  ]);
  const problems = productionSettings(process.env, process.cwd());
  if (problems.length > 0) {
    printWarning(['The demo does not run beside the settings of a real portal:', ...problems].join('\n  '));
    process.exitCode = exitCodes.refused;
    return;
  }
  const addresses = networkAddresses();
  const at = host === true ? addresses[0] : host;
  if (host !== undefined && (at === undefined || !addresses.includes(at)))
    throw failure(`--host: this machine has ${addresses.join(', ') || 'no address in a network'}.`);
  const demo = await runDemo({ wantedPort: wanted, host: at ?? null, warn: printWarning }).catch((error: Error) => {
    throw failure(`The demo cannot start: ${error.message}`, 'refused', error);
  });
  if (at !== undefined)
    printWarning(
      `Whoever reaches ${at} can open the demo, its emails and its passwords: end it when you are done.\nBrowsers do not know its certificate and ask once for each of its four addresses; passkeys do not work there.`,
    );
  if (json) printJson(demo);
  else printDemo(demo);
}

function printDemo({ startPage, portal, dataFolder, accounts }: RunningDemo): void {
  printLine('The demo runs. Begin here:\n');
  printLine(`  ${startPage}\n`);
  printLine(
    factsOf([
      ['Portal', `${portal}/`],
      ['Inbox', `${startPage}inbox`],
      ['Authenticator', `${startPage}authenticator`],
    ]),
  );
  printLine('');
  const rows = accounts.map(({ username, email, password, isInvited }) => [
    username,
    email,
    password ?? (isInvited ? '- (invited by email)' : '- (single sign-on)'),
  ]);
  printLine(tableOf(['NAME', 'EMAIL', 'PASSWORD'], rows));
  const isRepository = existsSync(new URL('vestibule', root));
  const command = isRepository ? './vestibule' : relative('', process.argv[1] as string);
  printLine(`\nWhy somebody was refused: VESTIBULE_DATA=${dataFolder} ${command} explain REFERENCE`);
  printLine('Ctrl-C ends it and deletes everything.');
}
