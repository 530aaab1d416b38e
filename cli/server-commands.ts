import type { Command } from 'commander';
import { placeholderWarning, readConfig } from '#server/config/config.ts';
import { hostAndPort } from '#server/config/server-urls.ts';
import { outboxOf } from '#server/mail/transport.ts';
import type { JsonFlag } from './options.ts';
import { type Answer, exitCodes, factsOf, failure, printAnswer, printJson, printWarning } from './print.ts';
import { type Opened, onDatabase } from './with-database.ts';

/** `vestibule serve`, `vestibule migrate` and `vestibule config check` */
export function addServerCommands(program: Command): void {
  program
    .command('serve')
    .description('run the portal until it is stopped')
    .option('--json', 'print the log as JSON, as it is anyway')
    .action(runServe);
  program
    .command('migrate')
    .description('update the database to this version; the server also does so when it starts')
    .action(onDatabase(runMigrate));
  program
    .command('config')
    .description('the settings in the environment and the configuration file')
    .command('check')
    .description('check the settings and explain what is wrong')
    .action(runConfigCheck);
}

async function runServe(): Promise<void> {
  const { serve } = await import('#server/main.ts');
  await serve().catch((error: Error) => {
    throw failure(`The portal cannot start: ${error.message}`, 'refused', error.cause ?? error);
  });
}

async function runMigrate({ applied }: Opened): Promise<Answer> {
  const words = applied.length === 0 ? 'The database is up to date.' : `Migrations applied: ${applied.join(', ')}`;
  return { value: { applied }, words };
}

function runConfigCheck({ json }: JsonFlag): void {
  const result = readConfig(process.env);
  if (result.kind === 'refused') {
    if (json) printJson(result);
    else for (const problem of result.problems) printWarning(problem);
    process.exitCode = exitCodes.refused;
    return;
  }
  const { config } = result;
  const summary = {
    publicUrl: config.publicUrl.origin + config.basePath,
    listens: `${config.host}:${config.port}`,
    database: config.databaseUrl ? withoutSecrets(config.databaseUrl) : 'built-in PostgreSQL',
    dataFolder: config.dataFolder,
    mails: config.smtp ? hostAndPort(config.smtp) : outboxOf(config.dataFolder),
  };
  const warning = placeholderWarning(config);
  const facts = factsOf([
    ['Pages', summary.publicUrl],
    ['Listens at', summary.listens],
    ['Database', summary.database],
    ['Data folder', summary.dataFolder],
    ['Mails to', summary.mails],
  ]);
  const words = `The configuration is valid.\n\n${facts}${warning ? `\n\nWarning: ${warning}.` : ''}`;
  printAnswer({ value: { ok: true, summary, warnings: warning ? [warning] : [] }, words }, json);
}

function withoutSecrets(databaseUrl: string): string {
  const { protocol, host, pathname } = new URL(databaseUrl);
  return `${protocol}//${host}${pathname}`;
}
