/** Session checks wait this long at most for others to go with, when many are under way. */
const askedTogetherWaits = 20;

/** Calls under way at once; under load, what is asked meanwhile goes together in the next one. */
const mostCalls = 2;

/**
 * Answers what is asked in one turn of the event loop by one call of `answerAll`, which returns the answers in the order
 * of the questions. If it fails, every question of that call fails. While two calls are under way, what is asked waits for
 * one of them, but not for a slow one (`askedTogetherWaits`). Nobody gets an answer to an earlier question.
 */
export function askedTogether<Question, Answer>(
  answerAll: (questions: readonly Question[]) => Promise<readonly Answer[]>,
): (question: Question) => Promise<Answer> {
  let waiting: { question: Question; answers: PromiseWithResolvers<Answer> }[] = [];
  let calls = 0;
  let timer: NodeJS.Timeout | undefined;

  return function ask(question) {
    if (waiting.length === 0) setImmediate(answerSoon);
    const answers = Promise.withResolvers<Answer>();
    waiting.push({ question, answers });
    return answers.promise;
  };

  function answerSoon(): void {
    if (calls < mostCalls) void answerWaiting();
    else timer ??= setTimeout(answerWaiting, askedTogetherWaits);
  }

  async function answerWaiting(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    if (waiting.length === 0) return;
    const asked = waiting;
    waiting = [];
    calls += 1;
    try {
      const found = await answerAll(asked.map(({ question }) => question));
      for (const [index, { answers }] of asked.entries()) answers.resolve(found[index] as Answer);
    } catch (error) {
      for (const { answers } of asked) answers.reject(error);
    } finally {
      calls -= 1;
      // Those whose turn is not over yet come with it.
      if (timer) void answerWaiting();
    }
  }
}
