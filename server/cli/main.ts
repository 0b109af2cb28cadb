// The command line: the commands and their options. Each command is a file beside this one, loaded when needed: a check of one file does
// not wait for a database driver.
import { Command, CommanderError, Option } from 'commander';
import type { ResetOptions } from './admin.ts';
import type { BackupOptions } from './backups/index.ts';
import type { BenchOptions } from './bench/index.ts';
import type { RemoteOptions } from './remote.ts';
import { wholeNumber } from './option-values.ts';
import { readBuild } from '../../platform/about/index.ts';
import { addServeOptions, addStoreOptions, dropEmptyVariables, type ServeOptions } from './serve-options.ts';
import { type Terminal, UsageError } from './terminal.ts';
import type { RotateOptions } from './rotate-keys.ts';
import type { WhyOptions } from './why.ts';

export { processTerminal } from './terminal.ts';

/**
 * Runs one command.
 * @param args without the names of the program and of Node
 * @returns the exit code: 0 success, 1 failure or diagnostics, 2 wrong usage
 */
// oxlint-disable-next-line max-lines-per-function -- a table: the commands with their options
export async function main(args: readonly string[], terminal: Terminal): Promise<number> {
  let code = 0;
  const program = new Command('cascade')
    .description('An event-driven automation service: typed data, a small rule language, one resource API.')
    .version(readBuild().version, '-V, --version', 'the version of this program')
    .exitOverride()
    .configureOutput({ writeOut: terminal.out, writeErr: terminal.err })
    .addHelpText('after', AFTER_HELP);
  program.commandsGroup('Run the service:');
  addServeOptions(program.command('serve').description('the service, until SIGTERM or SIGINT')).action(async (options: ServeOptions) => {
    const { serve } = await import('./serve.ts');
    code = await serve(options, terminal);
  });
  const admin = program.command('admin').description('accounts, by whoever has the data folder or the database');
  addStoreOptions(
    admin
      .command('reset')
      .description('a new password for an account that nobody can enter any more; its sessions and tokens end. The service must be stopped')
      .argument('<name>', 'of the user, of whatever namespace'),
  )
    .addOption(new Option('--password-file <file>', 'holds the new password; it is asked for when absent').conflicts('generate'))
    .option('--generate', 'a new password, printed once')
    .action(async (name: string, options: ResetOptions) => {
      const { resetAccount } = await import('./admin.ts');
      code = await resetAccount(name, options, terminal);
    });
  addStoreOptions(
    program
      .command('rotate-keys')
      .description('another master key, with which the keys of all namespaces are sealed again. The services must be stopped'),
  )
    .addOption(
      new Option(
        '--master-key-file <file>',
        'holds the present master key; CASCADE_MASTER_KEY, else that of the data folder when absent',
      ).env('CASCADE_MASTER_KEY_FILE'),
    )
    .option('--new-master-key-file <file>', 'holds the new one; made anew for a data folder when absent')
    .action(async (options: RotateOptions) => {
      const { rotateKeys } = await import('./rotate-keys.ts');
      code = await rotateKeys(options, terminal);
    });
  program.commandsGroup('Write rules, without a service:');
  program
    .command('check')
    .description('diagnostics of rule and procedure files; exit code 0 when all are without errors')
    .argument('<file...>')
    .option('--json', 'as JSON')
    .option('--syntax-only', 'neither names nor types')
    .option('--types <path>', 'the project (with types/, rules/, procedures/), a folder of types, or a JSON file with types')
    .action(async (files: string[], options: { json?: boolean; syntaxOnly?: boolean; types?: string }) => {
      const { check } = await import('./check.ts');
      code = await check(files, options, terminal);
    });
  program
    .command('format')
    .description('brings rule and procedure files into their standard form; prints the names of those that were not in it')
    .argument('<file...>')
    .option('--check', 'writes nothing; exit code 1 when a file is not in its standard form')
    .action(async (files: string[], options: { check?: boolean }) => {
      const { formatFiles } = await import('./format.ts');
      code = await formatFiles(files, options, terminal);
    });
  program
    .command('compile')
    .description('the JavaScript of a rule or procedure file')
    .argument('<file>')
    .action(async (file: string) => {
      const { compileFile } = await import('./compile.ts');
      code = await compileFile(file, terminal);
    });
  program
    .command('builtins')
    .description('the built-in procedures whose names begin so, or all; exit code 1 when there are none')
    .argument('[prefix]', '', '')
    .option('--json', 'as JSON, for editors')
    .action(async (prefix: string, options: { json?: boolean }) => {
      const { listBuiltins } = await import('./builtins.ts');
      code = listBuiltins(prefix, options, terminal);
    });
  program
    .command('run')
    .description('runs one procedure or rule file in the sandbox, without a server, and prints the result as JSON')
    .argument('<file>')
    .option('--args <json>', "a procedure's arguments, as an array or by name in an object; a rule's event")
    .action(async (file: string, options: { args?: string }) => {
      const { runFile } = await import('./run.ts');
      code = await runFile(file, options.args, terminal);
    });
  program
    .command('test')
    .description('runs the tests of a project on a clock that jumps; exit code 0 when all pass')
    .argument('<file...>', 'YAML files with cases, or folders of them')
    .option('--at <time>', 'what time it is at first; the present when absent')
    .action(async (files: string[], options: { at?: string }) => {
      const { testFiles } = await import('./test.ts');
      code = await testFiles(files, options, terminal);
    });
  addBenchOptions(
    program
      .command('bench')
      .description("how fast a project's own rules are, stage by stage, under load that comes at its times whatever becomes of it")
      .argument('<folder>', 'of the project'),
  ).action(async (folder: string, options: BenchOptions) => {
    const { bench } = await import('./bench/index.ts');
    code = await bench(folder, options, terminal);
  });
  program.commandsGroup('Ask a running service:');
  remotely(program.command('token'))
    .description('logs in and prints the token of the session, for other programs; it lives for 24 hours')
    .action(async (options: RemoteOptions) => {
      const { printToken } = await import('./token.ts');
      code = await printToken(options, terminal);
    });
  for (const name of ['backup', 'restore'] as const)
    remotely(
      program
        .command(name)
        .description(
          name === 'backup'
            ? 'a namespace that is in use, as it is at this moment, into one file; by the system admin'
            : 'what a backup has into a namespace that has nothing yet, or is made for it; by the system admin',
        )
        .argument('<namespace>')
        .argument('<file>', name === 'backup' ? 'to write; it must not be there' : 'that a backup has written'),
    )
      .addOption(
        new Option('--passphrase-file <file>', 'holds the passphrase for encrypted values, else CASCADE_BACKUP_PASSPHRASE').env(
          'CASCADE_BACKUP_PASSPHRASE_FILE',
        ),
      )
      .action(async (namespace: string, file: string, options: BackupOptions) => {
        const { backup, restore } = await import('./backups/index.ts');
        code = await { backup, restore }[name](namespace, file, options, terminal);
      });
  remotely(program.command('why'))
    .description('which rules run for an event, and for those that do not the term that decided')
    .argument('[event]', 'uuid of an event that is open, recorded, or a dead letter')
    .option('--path <path>', 'of an event that is made up: /types/Pump/insert, /topics/a/publish')
    .option('--value <json>', 'its value; @file for a file')
    .option('--rule <name>', 'this rule only')
    .option('--json', 'as JSON')
    .action(async (event: string | undefined, options: WhyOptions) => {
      const { why } = await import('./why.ts');
      code = await why(event, options, terminal);
    });
  remotely(program.command('replay'))
    .description('repeats a recorded run and shows what it asked for and was answered; exit code 0 when it ends as it was recorded')
    .argument('<run>', 'the invocation, as logs and snapshots name it, or the uuid of its event')
    .action(async (run: string, options: RemoteOptions) => {
      const { replay } = await import('./replay.ts');
      code = await replay(run, options, terminal);
    });
  for (const [name, purpose] of [
    [
      'import',
      'the files of a project into a namespace, all or none; what is the same is left alone; exit code 1 when some cannot be loaded',
    ],
    ['export', 'the definitions and documents of a namespace as the files of a project'],
    ['diff', 'what an import would change: + added, - only in the namespace, ~ changed; exit code 1 when there is any'],
  ] as const)
    remotely(program.command(name))
      .description(purpose)
      .argument('<folder>', 'of the project')
      .action(async (folder: string, options: RemoteOptions) => {
        const { diffProject, exportProject, importProject } = await import('./projects/index.ts');
        code = await { import: importProject, export: exportProject, diff: diffProject }[name](folder, options, terminal);
      });
  for (const command of [...program.commands, ...admin.commands]) dropEmptyVariables(command, process.env);
  try {
    await program.parseAsync(args, { from: 'user' });
    return code;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2; // commander has printed the reason
    if (!(error instanceof UsageError)) throw error; // an internal error: Node shows its stack
    terminal.err(`${error.message}\n`);
    return 2;
  }
}

const addBenchOptions = (command: Command): Command =>
  command
    .option(
      '--events <file>',
      'NDJSON: {"type": "Pump", "object": {…}} inserts, {"topic": "/plant/alarm", "value": …} publishes; from the beginning again',
    )
    .option('--generate <type>', 'inserts instances of this type that are made up of its properties')
    .option('--rate <n>', 'events a second', wholeNumber(1, 1_000_000))
    .option('--ramp', 'finds the highest rate whose p99 is within --bound and that leaves no backlog')
    .option('--core', 'index and sandbox alone, as fast as they go: no service, no database')
    .option('--bound <ms>', 'of --ramp; 50 when absent', wholeNumber(1, 60_000))
    .option('--seconds <s>', 'of a round, or of a step of a ramp', wholeNumber(1, 3_600), 5)
    .option('--rounds <n>', 'or searches of a ramp; with fewer than 3 there is no comparison', wholeNumber(1, 100), 5)
    .option('--connections <n>', 'on which requests may be under way', wholeNumber(1, 2_000), 64)
    .option('--lanes <n>', 'threads that run code, of a service of its own and of --core', wholeNumber(1, 64))
    .option('--seed <n>', 'of what is made up', wholeNumber(0, 999_999_999), 1)
    .option('--subscribe <path...>', 'a client hears these events, so that the stage of subscribers is measured, too', [])
    .option('--report <file>', 'writes an HTML page')
    .option('--output <file>', 'writes the result as JSON, as --compare takes it')
    .option('--compare <file>', 'a result of the same load; exit code 1 when a figure is worse beyond noise')
    .option('--json', 'prints the result as JSON')
    .option('--url <url>', 'of a running service that is loaded with events, with the definitions it has; one of its own when absent')
    .option('--user <name>', 'with --url: who asks (env: CASCADE_USER)')
    .option('--password <password>', 'of the user (env: CASCADE_PASSWORD)')
    .option('--token <token>', 'in place of user and password (env: CASCADE_TOKEN)');

/** Options for the service that a command talks to, and its login. */
const remotely = (command: Command): Command =>
  command
    .option('--url <url>', 'of the service (default: http://localhost:8080, env: CASCADE_URL)')
    .option('--user <name>', 'who asks (env: CASCADE_USER)')
    .option('--password <password>', 'of the user; asked for at a terminal when absent (env: CASCADE_PASSWORD)')
    .option('--token <token>', 'of a session, or a permanent one, in place of user and password (env: CASCADE_TOKEN)');

const AFTER_HELP = `
cascade help COMMAND tells the options of one. The manual: docs/README.md, and /manual/ of a running service.`;
