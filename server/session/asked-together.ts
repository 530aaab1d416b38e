/**
 * Answers what is asked in one turn of the event loop by one call of `answerAll`, which returns the answers in the order
 * of the questions. If it fails, every question of that turn fails.
 */
export function askedTogether<Question, Answer>(
  answerAll: (questions: readonly Question[]) => Promise<readonly Answer[]>,
): (question: Question) => Promise<Answer> {
  let waiting: { question: Question; answers: PromiseWithResolvers<Answer> }[] = [];

  return function ask(question) {
    if (waiting.length === 0) setImmediate(answerWaiting);
    const answers = Promise.withResolvers<Answer>();
    waiting.push({ question, answers });
    return answers.promise;
  };

  async function answerWaiting(): Promise<void> {
    const asked = waiting;
    waiting = [];
    try {
      const found = await answerAll(asked.map(({ question }) => question));
      for (const [index, { answers }] of asked.entries()) answers.resolve(found[index] as Answer);
    } catch (error) {
      for (const { answers } of asked) answers.reject(error);
    }
  }
}
