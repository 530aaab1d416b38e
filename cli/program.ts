import { Command, CommanderError, Help } from 'commander';
import { sourceStack } from '#server/config/source-stack.ts';
import packageFile from '../package.json' with { type: 'json' };
import { addAuditCommands } from './audit-commands.ts';
import { addBackupCommands } from './backup-commands.ts';
import { addConnectionCommands } from './connection-commands.ts';
import { addCustomerCommands } from './customer-commands.ts';
import { addDemoCommand } from './demo-command.ts';
import { addDoctorCommand } from './doctor-command.ts';
import { addKeysCommands } from './keys-commands.ts';
import { addPagesCommand } from './pages-command.ts';
import { exitCodes, isFailure, printWarning } from './print.ts';
import { addServerCommands } from './server-commands.ts';
import { addUserCommands } from './user-commands.ts';

/** Runs the command given by the arguments. Sets the process's exit code; throws only on a bug. */
export async function runProgram(): Promise<void> {
  // A closed pipe, for example from `head`, isn't an error.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
  const program = buildProgram();
  try {
    await program.parseAsync();
  } catch (error) {
    process.exitCode = exitCodeOf(error);
    if (program.opts().verbose && isFailure(error))
      printWarning(sourceStack((error.cause as Error | undefined) ?? error));
  }
}

/** All commands, as they are typed. */
export function buildProgram(): Command {
  const program = new Command('vestibule')
    .description('The front door of a business software hub: sign-in pages and the server behind them.')
    .version(packageFile.version)
    .option('--verbose', 'also print where an error came from')
    .showHelpAfterError('(see --help)')
    .exitOverride()
    .configureHelp({
      optionDescription: (option) => new Help().optionDescription(option) + (option.mandatory ? ' (required)' : ''),
    })
    .addHelpText(
      'after',
      `
For a first sign-in:
  vestibule customer add acme
  vestibule user add alice --email alice@acme.example --customer acme
  vestibule serve                 and open http://localhost:8080/portal/

All commands work with or without a running server. Settings come from the environment and from
vestibule.config.json; \`vestibule config check\` says whether they are valid.

Exit codes: 0 done, 1 refused, not found or not started, 2 wrong usage, 3 database down or invalid configuration.`,
    );
  addServerCommands(program);
  addCustomerCommands(program);
  addUserCommands(program);
  addConnectionCommands(program);
  addAuditCommands(program);
  addKeysCommands(program);
  addBackupCommands(program);
  addDoctorCommand(program);
  addPagesCommand(program);
  addDemoCommand(program);
  addJsonOption(program);
  return program;
}

/** Every command prints JSON, too; those that print more than an outcome say what. */
function addJsonOption(command: Command): void {
  command.commands.forEach(addJsonOption);
  const isThere = command.options.some(({ long }) => long === '--json');
  if (command.commands.length === 0 && !isThere) command.option('--json', 'print it as JSON');
}

function exitCodeOf(error: unknown): number {
  // Commander has already reported the wrong arguments.
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.done : exitCodes.wrongUsage;
  if (!isFailure(error)) throw error;
  printWarning(error.message);
  return error.exitCode;
}
