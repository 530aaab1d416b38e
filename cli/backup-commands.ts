import { join } from 'node:path';
import type { Command } from 'commander';
import { restoreBackup, writeBackup } from '#server/database/backup.ts';
import { confirm, type YesFlag, yesFlag } from './confirm.ts';
import { type Answer, failure } from './print.ts';
import { loadConfig, type Opened, onDatabase, record } from './with-database.ts';

/** `vestibule backup` and `vestibule restore` */
export function addBackupCommands(program: Command): void {
  program
    .command('backup <file>')
    .description('write the built-in database to a new file; the server may be running')
    .hook('preAction', refuseWithoutBuiltIn)
    .action(onDatabase(runBackup));
  program
    .command('restore <file>')
    .description('replace the built-in database by a backup of the same version; sessions and links end')
    .option(...yesFlag)
    .hook('preAction', refuseWithoutBuiltIn)
    .action(onDatabase(runRestore));
}

function refuseWithoutBuiltIn(): void {
  if (loadConfig().databaseUrl !== null)
    throw failure('This is for the built-in database: with DATABASE_URL use pg_dump and pg_restore.');
}

async function runBackup({ sql, config: { secrets, dataFolder } }: Opened, file: string): Promise<Answer> {
  await writeBackup(sql, file).catch(problemWith(file, 'it is not written'));
  await record(sql, 'backup-written');
  const secret = secrets ? 'VESTIBULE_SECRET' : join(dataFolder, 'secret');
  const words = `Written to ${file}. It needs ${secret}: keep a copy of that in another place.`;
  return { value: { file }, words };
}

async function runRestore({ sql }: Opened, file: string, flags: YesFlag): Promise<Answer> {
  const [found] = await sql`select count(*) as users from portal_user`;
  await confirm(`This replaces the database, which has ${found?.users} users`, flags);
  await restoreBackup(sql, file).catch(problemWith(file, 'nothing was changed'));
  await record(sql, 'backup-restored');
  const words = 'Restored; all sessions and links have ended. "vestibule doctor" says whether this is its secret.';
  return { value: { file }, words };
}

const causes: Record<string, string> = {
  EEXIST: 'the file exists already',
  ENOENT: 'there is no such file or folder',
  Z_BUF_ERROR: 'the backup is cut off',
  Z_DATA_ERROR: 'it is no backup',
};

function problemWith(file: string, outcome: string) {
  return (error: NodeJS.ErrnoException): never => {
    const why = causes[error.code ?? ''] ?? error.message;
    throw failure(`${file}: ${why}; ${outcome}.`, 'refused', error);
  };
}
