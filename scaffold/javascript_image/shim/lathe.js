// The exports of the world `image`, which the host calls.

import { load } from 'lathe:tool/bundle@0.1.0';
import { add } from 'lathe:tool/content@0.1.0';
import { requestInput } from 'lathe:tool/interaction@0.1.0';
import { send as sendLog } from 'lathe:tool/log@0.1.0';
import { send } from 'lathe:tool/status@0.1.0';
import * as http from 'lathe:tool/http@0.1.0';
import * as tools from 'lathe:tool/tools@0.1.0';

import { checkBundle, compileProject } from './compiler.js';
import { describe } from './errors.js';
import { connect } from './fetch.js';
import { run } from './run.js';
import { warm } from './warm.js';
import './process.js';
import './web.js';
import './bodies.js';
import './regexp.js';
import './normalize.js';
import './intl.js';
import './node.js';

connect(http);
await warm();

/** Returns a value of the WIT type `result`. An exception would stop the interpreter. */
async function answered(work, failure) {
  try {
    return { tag: 'ok', val: await work() };
  } catch (error) {
    return { tag: 'err', val: failure(error) };
  }
}

export function runTool(context) {
  return answered(() => run(load(), context, { add, requestInput, send, sendLog, tools }), describe);
}

export function compile(project) {
  return answered(() => compileProject(project), failedCheck);
}

export function check(bundle, deriveSchema) {
  return answered(() => checkBundle(bundle, deriveSchema), failedCheck);
}

function failedCheck(error) {
  const { check = 'import', message = String(error), file, line } = error ?? {};
  return { check, message, file, line };
}
