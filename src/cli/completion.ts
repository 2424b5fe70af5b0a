/** Adds `aos completion`: a script that has a shell complete commands and options, made from the commands themselves. */
import { Argument, type Command } from 'commander';
import { print } from './output.ts';

const SHELLS = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof SHELLS)[number];

export function addCompletionCommand(program: Command): void {
  program
    .command('completion')
    .addArgument(new Argument('<shell>').choices(SHELLS))
    .description('print a script that completes commands and options')
    .addHelpText(
      'after',
      '\nExamples:\n  source <(aos completion bash)      # in ~/.bashrc\n  source <(aos completion zsh)       # in ~/.zshrc, after compinit\n  aos completion fish > ~/.config/fish/completions/aos.fish',
    )
    .action((shell: Shell) => print(completionOf(program, shell)));
}

interface Place {
  /** The commands before, such as `project start`; empty of `aos` itself. */
  path: string;
  commands: { name: string; words: string[]; about: string }[];
  options: { long: string; about: string; choices: readonly string[] }[];
}

/** Nothing in a script but letters, digits and dashes comes from anywhere else than here. */
function placesOf(command: Command, path = ''): Place[] {
  const commands = command.commands.map((each) => ({
    name: each.name(),
    words: [each.name(), ...each.aliases()],
    about: each.description(),
  }));
  const options = command.options.flatMap(({ long, description, argChoices }) =>
    long ? [{ long, about: description, choices: argChoices ?? [] }] : [],
  );
  return [
    { path, commands, options },
    // Behind another word for a command the same is completed.
    ...command.commands.flatMap((each) =>
      [each.name(), ...each.aliases()].flatMap((word) => placesOf(each, `${path}${path && ' '}${word}`)),
    ),
  ];
}

/** @returns the script of this shell */
export function completionOf(program: Command, shell: Shell): string {
  const places = placesOf(program);
  if (shell === 'fish') return fish(places);
  return shell === 'zsh' ? `autoload -U +X bashcompinit && bashcompinit\n${bash(places)}` : bash(places);
}

function bash(places: readonly Place[]): string {
  const words = places.map(({ path, commands, options }) => {
    const all = [...commands.map(({ name }) => name), ...options.map(({ long }) => long), '--help'];
    return `    '${path}') echo '${all.join(' ')}' ;;`;
  });
  const choices = places.flatMap(({ path, options }) =>
    options
      .filter((option) => option.choices.length > 0)
      .map((option) => `    '${path} ${option.long}') echo '${option.choices.join(' ')}' ;;`),
  );
  return `_aos_words() {
  case "$1" in
${words.join('\n')}
  esac
}
_aos_choices() {
  case "$1" in
${choices.join('\n')}
  esac
}
_aos() {
  local at='' word next i
  for ((i = 1; i < COMP_CWORD; i++)); do
    word="\${COMP_WORDS[i]}"
    next="\${at:+$at }$word"
    case "$word" in -*) ;; *) [ -n "$(_aos_words "$next")" ] && at="$next" ;; esac
  done
  local given="$(_aos_choices "$at \${COMP_WORDS[COMP_CWORD-1]}")"
  COMPREPLY=($(compgen -W "\${given:-$(_aos_words "$at")}" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _aos aos`;
}

const quoted = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;

function fish(places: readonly Place[]): string {
  const lines = places.flatMap(({ path, commands, options }) => {
    const names = path.split(' ').filter(Boolean);
    const inside = names.map((name) => `__fish_seen_subcommand_from ${name}`);
    const outside =
      commands.length > 0
        ? [`not __fish_seen_subcommand_from ${commands.flatMap(({ words }) => words).join(' ')}`]
        : [];
    const where = quoted([...inside, ...outside].join('; and ') || 'true');
    return [
      ...commands.map(({ name, about }) => `complete -c aos -f -n ${where} -a ${name} -d ${quoted(about)}`),
      ...options.map(
        ({ long, about, choices }) =>
          `complete -c aos -n ${quoted(inside.join('; and ') || 'true')} -l ${long.slice(2)} -d ${quoted(about)}${choices.length > 0 ? ` -x -a ${quoted(choices.join(' '))}` : ''}`,
      ),
    ];
  });
  return lines.join('\n');
}
