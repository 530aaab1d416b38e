#!/usr/bin/env node
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';

// Commands are short and start often: with their code kept compiled they take half the time. The cache lies where only
// those may write who may change the code; where nobody may, there is none.
enableCompileCache(join(import.meta.dirname, '../../node_modules/.cache/vestibule'));

const { runProgram } = await import('./program.ts');
await runProgram();
