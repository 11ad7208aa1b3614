// Command dashboard is Unwedge: it shows and mends what is stuck in Kafka and
// SQS.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
)

// Exit codes.
const (
	exitOK      = 0
	exitFailed  = 1
	exitMistake = 2 // in the command line or the configuration
)

// errUsage is a mistake in the command line; what is wrong was printed.
var errUsage = errors.New("usage")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	p := program{getenv: os.LookupEnv, stdout: os.Stdout, stderr: os.Stderr}
	code := p.run(ctx, os.Args[1:])
	stop()
	os.Exit(code)
}

// program is the process as a test can have it.
type program struct {
	getenv         func(string) (string, bool)
	stdout, stderr io.Writer
}

// command is one of the program's subcommands.
type command struct {
	name, synopsis, does string
	run                  func(p program, ctx context.Context, args []string) (code int)
}

// commands are those of the contract, in the order in which they are listed.
func commands() []command {
	return []command{
		{"demo", "[--listen ADDRESS]", "plays the story with nothing installed", program.demo},
		{"serve", "--config FILE", "runs the dashboard", program.serve},
		{"check", "--config FILE [--send-test]", "says what is wrong with a configuration, and what can be reached", program.check},
		{"replay", "[--config FILE] FILE...", "says what the detector would have said of recorded lag", program.replay},
		{"version", "", "prints the version", program.version},
	}
}

func (p program) run(ctx context.Context, args []string) int {
	if len(args) == 0 {
		p.usage()
		return exitMistake
	}
	if slices.Contains([]string{"help", "-h", "--help"}, args[0]) {
		p.usage()
		return exitOK
	}
	for _, c := range commands() {
		if c.name == args[0] {
			return c.run(p, ctx, args[1:])
		}
	}
	fmt.Fprintf(p.stderr, "dashboard: there is no command %q\n", args[0])
	p.usage()
	return exitMistake
}

func (p program) usage() {
	fmt.Fprintln(p.stderr, "Usage:")
	for _, c := range commands() {
		fmt.Fprintf(p.stderr, "  dashboard %-8s %-28s %s\n", c.name, c.synopsis, c.does)
	}
	fmt.Fprintln(p.stderr, "Every flag can also be given as an environment variable: --listen as UNWEDGE_LISTEN.")
}

// flags are a subcommand's flags. Each can also be an environment variable.
type flags struct {
	*flag.FlagSet
	getenv func(string) (string, bool)
}

func (p program) flags(name string) flags {
	f := flag.NewFlagSet(name, flag.ContinueOnError)
	f.SetOutput(p.stderr)
	return flags{f, p.getenv}
}

// parse reads the environment first, so that the command line wins.
func (f flags) parse(args []string) error {
	var wrong error
	f.VisitAll(func(one *flag.Flag) {
		variable := "UNWEDGE_" + strings.ToUpper(strings.ReplaceAll(one.Name, "-", "_"))
		if value, set := f.getenv(variable); set {
			if err := f.Set(one.Name, value); err != nil {
				wrong = errors.Join(wrong, fmt.Errorf("%s: %w", variable, err))
			}
		}
	})
	if wrong != nil {
		fmt.Fprintln(f.Output(), wrong)
		return errUsage
	}
	return f.Parse(args)
}

// codeOf is the exit code of flags that could not be parsed.
func codeOf(err error) int {
	if errors.Is(err, flag.ErrHelp) {
		return exitOK
	}
	return exitMistake
}

// logger writes lines of key=value, or JSON.
func (p program) logger(format string) (*slog.Logger, error) {
	switch format {
	case "text":
		return slog.New(slog.NewTextHandler(p.stderr, nil)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(p.stderr, nil)), nil
	}
	fmt.Fprintf(p.stderr, "--log-format %q is neither text nor json\n", format)
	return nil, errUsage
}

func (p program) version(context.Context, []string) int {
	fmt.Fprintln(p.stdout, "unwedge", version())
	return exitOK
}

// version is the module's version, with the commit it was built from where the
// build knew it.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	v := strings.Trim(info.Main.Version, "()")
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && !strings.Contains(v, s.Value[:min(12, len(s.Value))]) {
			v += " " + s.Value[:min(12, len(s.Value))]
		}
	}
	return v
}
