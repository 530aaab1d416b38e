import { setTimeout as pause } from 'node:timers/promises';
import { connect } from '#server/storage/connect.ts';
import { type DebianPostgresql, debianPostgresql } from '#testing/debian-postgresql.ts';
import { twoPortalsOn } from '#testing/two-portals.ts';
import { measureFault } from './measure-fault.ts';
import { measurePeople, peopleWhoChange } from './people.ts';

/** How long the load goes on before. */
const before = 5000;

/** Kills a primary under load and promotes its synchronous standby, as docs/operating.md has them set up. */
export async function measureFailover(): Promise<void> {
  const primary = await debianPostgresql({ settings: { synchronous_standby_names: 'standby' } });
  const standby = await debianPostgresql({ standbyOf: primary, settings: { wal_retrieve_retry_interval: '500ms' } });
  const portals = await twoPortalsOn(
    `postgres://vestibule@127.0.0.1:${primary.port},127.0.0.1:${standby.port}/postgres`,
  );
  try {
    const people = await peopleWhoChange(portals);
    const fault = {
      name: 'the primary killed, its standby promoted',
      lasts: 0,
      mayLose: 0,
      begin: async () => {
        await pause(before);
        await primary.kill();
        await promote(standby);
        return () => {};
      },
    };
    await measureFault(fault, { portals, crowds: [people] });
    await measurePeople(people, 'the failover');
  } finally {
    await portals.close();
    await standby.close();
    await primary.close();
  }
}

/** Returns once it is the primary: that is when the fault ends. */
async function promote(standby: DebianPostgresql): Promise<void> {
  const sql = connect({ url: standby.urlOf('postgres') }, { statementTimeout: 0 });
  await sql`select pg_promote()`;
  await sql.end();
}
