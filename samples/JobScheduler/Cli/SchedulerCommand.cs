using System.CommandLine;
using System.CommandLine.Parsing;
using System.Globalization;
using Corfu.Client;

namespace JobScheduler.Cli;

/// <summary>The command line: options, help and validation.</summary>
public sealed class SchedulerCommand
{
    /// <summary>The mode that a run with --orleans starts this program in.</summary>
    public const string SiloCommand = "silo";

    private readonly Option<string?> _trace = new("--trace")
    {
        Description =
            "Jobs in the Standard Workload Format, plain or gzip. Without it: jobs of the Lublin-Feitelson workload "
            + "model.",
        HelpName = "FILE",
    };

    private readonly Option<double> _compress = new("--compress")
    {
        Description = "Divide submit times by this factor: the same jobs in less time.",
        HelpName = "F",
        DefaultValueFactory = _ => 1,
        CustomParser = ParseFactor,
    };

    private readonly Option<int> _nodes = new("--nodes")
    {
        Description =
            "Nodes of the machine when the trace's header names neither MaxNodes nor MaxProcs, and for the model.",
        HelpName = "N",
        DefaultValueFactory = _ => SchedulerOptions.DefaultNodes,
    };

    private readonly Option<int> _jobs = new("--jobs")
    {
        Description = "How many jobs the model makes.",
        HelpName = "N",
        DefaultValueFactory = _ => SchedulerOptions.DefaultJobs,
    };

    private readonly Option<ulong> _seed = new("--seed")
    {
        Description = "Seed of the model: the same seed means the same jobs.",
        HelpName = "N",
        DefaultValueFactory = _ => 1,
    };

    private readonly Option<int> _replicas = new("--replicas")
    {
        Description = $"Scheduler replicas that compete for the work, 1 to {SchedulerOptions.MaxReplicas}.",
        HelpName = "N",
        DefaultValueFactory = _ => SchedulerOptions.DefaultReplicas,
    };

    private readonly Option<int?> _orleans = new("--orleans")
    {
        Description =
            $"Run the replicas as Orleans grains on this many silo processes, 1 to {SchedulerOptions.MaxSilos}.",
        HelpName = "N",
    };

    private readonly Option<int> _kills = new("--kills")
    {
        Description =
            "Kill this many silos (SIGKILL) during the run, one after another, and start new ones; with --orleans.",
        HelpName = "N",
    };

    private readonly Option<string?> _connect = new("--connect")
    {
        Description = "Use a running cluster: corfu://host:port,... Without it an embedded one is started.",
        HelpName = "URL",
    };

    private readonly Option<string?> _data = new("--data")
    {
        Description =
            "Keep the embedded cluster's state in this folder; started again with the same arguments, the run "
            + "continues.",
        HelpName = "DIR",
    };

    private readonly Option<string?> _run = new("--run")
    {
        Description =
            "Name of this run in the log. Without it the run is named after its jobs: the same arguments continue it.",
        HelpName = "NAME",
    };

    /// <param name="run">Does the work; its result is the exit code.</param>
    /// <param name="silo">Runs a silo that another process of this program started.</param>
    public SchedulerCommand(Func<SchedulerOptions, Task<int>> run, Func<Task<int>> silo)
    {
        Root = new RootCommand(
            "A batch-system scheduler (first come, first served) whose whole state lives in Tango objects, run by "
            + "several replicas at once.")
        {
            _trace, _compress, _nodes, _jobs, _seed, _replicas, _orleans, _kills, _connect, _data, _run,
        };
        AtLeastOne(_nodes);
        AtLeastOne(_jobs);
        Between(_replicas, 1, SchedulerOptions.MaxReplicas);
        Between(_orleans, 1, SchedulerOptions.MaxSilos);
        Between(_kills, 0, SchedulerOptions.MaxKills);
        foreach (Option<string?> option in new[] { _trace, _connect, _data, _run })
        {
            option.Validators.Add(result =>
            {
                if (string.IsNullOrWhiteSpace(result.GetValue(option)))
                    result.AddError($"{option.Name} needs a value.");
            });
        }

        _connect.Validators.Add(result =>
        {
            if (result.GetValue(_connect) is { } url && !ConnectionString.TryParse(url, out _, out string? fault))
                result.AddError($"--connect: {fault}");
        });
        Root.Validators.Add(Combinations);
        Root.SetAction((parse, _) => run(Read(parse)));
        var child = new Command(SiloCommand, "A silo; started by --orleans.") { Hidden = true };
        child.SetAction((_, _) => silo());
        Root.Subcommands.Add(child);
    }

    public RootCommand Root { get; }

    /// <summary>Parses and runs. Wrong arguments print all faults to <paramref name="errors"/> and give
    /// <see cref="ExitCodes.Usage"/>.</summary>
    public async Task<int> InvokeAsync(string[] args, TextWriter errors)
    {
        ParseResult parse = Root.Parse(args);
        if (parse.Errors.Count > 0)
        {
            foreach (ParseError error in parse.Errors)
                await errors.WriteLineAsync($"error: {error.Message}");
            await errors.WriteLineAsync("Try --help.");
            return ExitCodes.Usage;
        }

        // Ctrl-C is the run's own business: it stops its replicas and says how to resume.
        return await parse.InvokeAsync(new InvocationConfiguration
        {
            ProcessTerminationTimeout = null,
            EnableDefaultExceptionHandler = false
        });
    }

    private static void AtLeastOne(Option<int> option) => option.Validators.Add(result =>
    {
        if (NumberIn(result) < 1)
            result.AddError($"{option.Name} must be at least 1.");
    });

    private static void Between(Option option, int least, int most) => option.Validators.Add(result =>
    {
        if (NumberIn(result) is { } number && (number < least || number > most))
            result.AddError($"{option.Name} must be {least} to {most}.");
    });

    // Null: it is not given, or no number, which the parser itself reports after the validators.
    private static int? NumberIn(OptionResult result) =>
        result.Tokens.Count == 1
        && int.TryParse(result.Tokens[0].Value, NumberStyles.Integer, CultureInfo.InvariantCulture, out int number)
        ? number
        : null;

    private static double ParseFactor(ArgumentResult result)
    {
        string text = result.Tokens[0].Value;
        if (double.TryParse(text, NumberStyles.Float, CultureInfo.InvariantCulture, out double factor)
            && double.IsFinite(factor) && factor > 0)
            return factor;
        result.AddError($"--compress needs a number above 0; \"{text}\" is not that.");
        return 1;
    }

    private void Combinations(CommandResult result)
    {
        if (result.GetResult(_connect) is not null && result.GetResult(_data) is not null)
            result.AddError("--data belongs to an embedded cluster; with --connect the cluster keeps the state.");
        if (result.GetResult(_kills) is { Implicit: false } && result.GetResult(_orleans) is null)
            result.AddError("--kills kills silos: it needs --orleans.");
        if (result.GetResult(_trace) is null)
            return;
        foreach (Option option in new Option[] { _jobs, _seed })
        {
            if (result.GetResult(option) is { Implicit: false })
                result.AddError($"{option.Name} is for the workload model and cannot go with --trace.");
        }
    }

    private SchedulerOptions Read(ParseResult parse) => new()
    {
        Trace = parse.GetValue(_trace),
        Compress = parse.GetValue(_compress),
        Nodes = parse.GetValue(_nodes),
        Jobs = parse.GetValue(_jobs),
        Seed = parse.GetValue(_seed),
        Replicas = parse.GetValue(_replicas),
        Silos = parse.GetValue(_orleans),
        Kills = parse.GetValue(_kills),
        Connect = parse.GetValue(_connect),
        Data = parse.GetValue(_data),
        Run = parse.GetValue(_run),
    };
}
