/** Whether this run is `npm run test:all`: every row of a class and every `*.all.test.ts`, not the first alone. */
export const runsAll = process.env.TEST_ALL === '1';
