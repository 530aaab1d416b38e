import { type Config, type ConfigResult, readConfig } from '../config/config.ts';
import { failure } from './failure.ts';

/** The configuration of this environment, or all its problems. */
export function checkConfig(): ConfigResult {
  return readConfig(process.env);
}

/** The configuration, for commands that need one. Throws a failure that lists the problems. */
export function loadConfig(): Config {
  const result = checkConfig();
  if (result.kind === 'ok') return result.config;
  throw failure(['The configuration is not valid:', ...result.problems].join('\n  '), 'notAvailable');
}
