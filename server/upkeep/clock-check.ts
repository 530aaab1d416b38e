import type { DepsWithoutWake } from '../deps/deps.ts';
import { hour, limits } from '../limits.ts';
import { databaseTime } from '../storage/database-time.ts';

/** Whether this instance may do, by its own clock, what cannot be undone. */
export type MayWork = () => Promise<boolean>;

/**
 * Whether this machine's clock agrees with the database's, by which it is asked at most once per `lookEvery`
 * milliseconds. By a clock that is hours wrong emails would be given up, links sent that are over, and living sessions
 * deleted, while other instances can do all that well. Throws while the database is away.
 */
export function clockCheck(
  { sql, now, log }: Pick<DepsWithoutWake, 'sql' | 'now' | 'log'>,
  lookEvery: number = limits.workLookEvery,
): MayWork {
  let asked: { at: number; answer: Promise<boolean> } | null = null;
  let wasRight = true;

  async function ask(): Promise<boolean> {
    const ahead = now().getTime() - (await databaseTime(sql)).getTime();
    const isRight = Math.abs(ahead) <= limits.clockTooWrong;
    const hoursAhead = Math.round(ahead / hour);
    if (wasRight && !isRight)
      log.error({ hoursAhead }, 'the clock is not that of the database: nothing is sent or tidied up here until it is');
    if (!wasRight && isRight) log.info('the clock is that of the database again');
    wasRight = isRight;
    return isRight;
  }

  return async () => {
    if (asked === null || performance.now() - asked.at >= lookEvery) asked = { at: performance.now(), answer: ask() };
    try {
      return await asked.answer;
    } catch (error) {
      asked = null;
      throw error;
    }
  };
}
