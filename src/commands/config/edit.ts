import { spawn } from 'node:child_process';
import { configFile } from '../../config/directories.ts';
import { updateConfig } from '../../config/write-config.ts';
import type { Context, Outcome } from '../../context.ts';
import { ConfigError } from '../../errors.ts';

/** Opens the configuration file, a broken one too, in the editor of the environment, and checks what was saved. */
export async function editConfig(_options: unknown, context: Context): Promise<Outcome> {
  const { env, paths, platform } = context;
  const path = configFile(paths.configDir);
  // A missing file is made here, readable by the user alone.
  await updateConfig(context, (config) => config).catch((error: unknown) => {
    // The editor is for files that cannot be read.
    if (!(error instanceof ConfigError)) throw error;
  });
  const fallback = platform === 'win32' ? 'notepad' : 'vi';
  const editor = [env['VISUAL'], env['EDITOR']].find((name) => name !== undefined && name !== '') ?? fallback;
  const code = await runEditor(editor, path, platform);
  if (code !== 0) {
    throw new ConfigError(`the editor '${editor}' ended with ${code ?? 'a signal'}`, {
      hint: 'set EDITOR to one that there is, such as EDITOR=nano',
    });
  }
  // Checks what was saved: this parses the file, which the run had not done, and `baseUrl` throws for a bad URL.
  const { baseUrl: _ } = await context.settings();
  return 'done';
}

/** Runs a command that may have flags, as git and crontab do. Its exit code; null after a signal, 127 where it cannot be started. */
function runEditor(editor: string, path: string, platform: string): Promise<number | null> {
  const [program, words] =
    platform === 'win32' ? [editor, [path]] : ['/bin/sh', ['-c', `${editor} "$1"`, editor, path]];
  return new Promise((resolve) => {
    const child = spawn(program, words, { stdio: 'inherit' });
    child.once('error', () => resolve(127));
    child.once('close', resolve);
  });
}
