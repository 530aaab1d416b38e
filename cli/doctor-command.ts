import type { Command } from 'commander';
import { readConfig } from '#server/config/config.ts';
import { readEmail } from '#server/names/read-name.ts';
import type { Check } from './doctor-checks.ts';
import { optionOf } from './options.ts';
import { exitCodes, printJson, printLine } from './print.ts';

type Flags = { sendTo?: string; json?: true };

/** `vestibule doctor` */
export function addDoctorCommand(program: Command): void {
  program
    .command('doctor')
    .description('check the settings, the data folder, the database, the hub and the mail server, and suggest fixes')
    .addOption(optionOf('--send-to <address>', 'send a test email there, the way all emails are sent', readEmail))
    .option('--json', 'print the checks as JSON: {check, ok, warning, words}, where ok is null for a skipped one')
    .action(runDoctor);
}

async function runDoctor({ sendTo, json }: Flags): Promise<void> {
  const checks: Check[] = [];
  for await (const check of runChecks(sendTo)) {
    checks.push(check);
    if (!json) printLine(lineOf(check));
  }
  if (json) printJson(checks);
  process.exitCode = exitCodeOf(checks);
}

async function* runChecks(recipient: string | undefined): AsyncGenerator<Check> {
  const result = readConfig(process.env);
  if (result.kind === 'refused') {
    yield { check: 'configuration', ok: false, words: result.problems.join('; ') };
    return;
  }
  const { config } = result;
  // Code that other commands don't need is loaded on demand.
  const doctor = await import('./doctor-checks.ts');
  yield { check: 'configuration', ok: true, words: `for ${config.publicUrl.origin}${config.basePath}/` };
  yield { check: 'links', ...doctor.checkLinks(config) };
  yield { check: 'data folder', ...(await doctor.checkDataFolder(config)) };
  const database = await doctor.checkDatabase();
  yield { check: 'database', ...database };
  if (config.databaseUrl) yield { check: 'line to the database', ...doctor.checkLine(config.databaseUrl) };
  if (database.ok) {
    yield { check: 'secrets', ...(await doctor.checkSecrets()) };
    yield { check: 'reverse proxy', ...(await doctor.checkProxy(config)) };
    yield { check: 'single sign-on', ...(await doctor.checkEnds()) };
    yield { check: 'desk', ...(await doctor.checkDesk()) };
  }
  if (config.hub) yield { check: 'hub', ...(await doctor.checkHub(config, config.hub)) };
  const mail = await doctor.checkMail(config);
  yield* mail;
  if (recipient === undefined) yield { check: 'test mail', ok: null, words: 'not requested – add --send-to <address>' };
  else if (mail.some(({ ok }) => ok === false)) yield { check: 'test mail', ok: null, words: 'not tried' };
  else yield { check: 'test mail', ...(await doctor.sendTestMail(config, recipient)) };
}

/** One line of a report. */
export function lineOf({ check, ok, warning, words }: Check): string {
  const outcome = warning ? 'warning' : ok === null ? 'skipped' : ok ? 'ok' : 'failed';
  return `${outcome.padEnd(7)} – ${check} – ${words.replaceAll('\n', ' ')}`;
}

function exitCodeOf(checks: readonly Check[]): number {
  const failed = checks.filter(({ ok }) => ok === false).map(({ check }) => check);
  if (failed.includes('configuration') || failed.includes('database')) return exitCodes.notAvailable;
  return failed.length > 0 ? exitCodes.refused : exitCodes.done;
}
