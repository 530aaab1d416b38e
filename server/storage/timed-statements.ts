import { type TimedWork, timedWork } from '../timed-work.ts';
import type { Connection } from './database.ts';

/** Members of a postgres.js query that we use beyond its types. */
type Query = {
  strings: readonly string[];
  handler: (query: Query) => void;
  resolve: (rows: unknown) => void;
  reject: (error: unknown) => void;
};

/** Times a query from when it is sent; one that becomes part of another never is. Not while nobody listens. */
export function timeStatement(made: Promise<unknown>): void {
  const { start, asyncEnd, hasSubscribers } = timedWork.statement;
  if (!hasSubscribers) return;
  const query = made as unknown as Query;
  const { handler, resolve, reject } = query;
  const work: TimedWork = {};
  query.handler = (sent) => {
    query.handler = handler;
    // The text of the code: values are sent beside it.
    work.detail = query.strings.join('…');
    start.publish(work);
    handler(sent);
  };
  query.resolve = (rows) => {
    asyncEnd.publish(work);
    resolve(rows);
  };
  query.reject = (error) => {
    work.error = error;
    asyncEnd.publish(work);
    reject(error);
  };
}

/** A transaction's connection whose statements are timed, if anybody listens. */
export function withTimedStatements<T extends Connection>(sql: T): T {
  if (!timedWork.statement.hasSubscribers) return sql;
  return new Proxy(sql, {
    apply: (target, self, args) => {
      const made: unknown = Reflect.apply(target as never, self, args);
      if (made instanceof Promise) timeStatement(made);
      return made;
    },
  });
}
