import fc from 'fast-check';
import { runsAll } from './runs-all.ts';

/** Properties are tried with the same values in every run of the tests; `npm run fuzz` tries others. */
fc.configureGlobal({ seed: Number(process.env.FUZZ_SEED ?? 16), numRuns: runsAll ? 500 : 50 });
