using System.CommandLine;
using System.Globalization;

namespace Corfu.Load;

/// <summary>The options that the measuring commands share.</summary>
internal sealed class LoadOptions
{
    public Option<int> Processes { get; } = Positive("--processes", "Load generator processes.", 2);

    public Option<int> InFlight { get; } = Positive("--in-flight", "Operations at once, all processes together.", 64);

    public Option<int> Size { get; } = Positive("--size", "Payload bytes of one operation.", 128);

    public Option<int> Rounds { get; } = Positive("--rounds", "Rounds; the median of each figure counts.", 5);

    public Option<double> Seconds { get; } = new("--seconds")
    {
        Description = "Length of a round.",
        DefaultValueFactory = _ => 3
    };

    public Option<string?> Connect { get; } = new("--connect",
        "-c")
    {
        Description = "A running cluster; without it one is started for the run.",
        HelpName = "corfu://HOST:PORT,..."
    };

    public Option<int> Units { get; } = Positive("--units", "Units of the started cluster.", 3);

    public Option<int> Replicas { get; } = Positive("--replicas", "Replicas in the started cluster.", 1);

    public Option<DirectoryInfo?> Directory { get; } = new("--dir",
        "-d")
    { Description = "Where the files go (default: a temporary folder)." };

    public Option<bool> Fio { get; } = new("--fio") { Description = "Compare write+fdatasync with fio's." };

    public Option<FileInfo?> Output { get; } = new("--out") { Description = "Append the JSON line to this file too." };

    public RunParameters Parameters(ParseResult result, string target) => new(
        Math.Min(result.GetValue(Processes), result.GetValue(InFlight)),
        result.GetValue(InFlight),
        result.GetValue(Size),
        result.GetValue(Seconds),
        target);

    public void AddCommon(Command command)
    {
        foreach (var option in new Option[] { Processes, InFlight, Size, Rounds, Seconds, Directory, Fio, Output })
            command.Add(option);
    }

    public void AddCluster(Command command)
    {
        foreach (var option in new Option[] { Connect, Units, Replicas }) command.Add(option);
    }

    public static Option<int> Positive(string name, string description, int value)
    {
        var option = new Option<int>(name)
        {
            Description = description,
            HelpName = "N",
            DefaultValueFactory = _ => value
        };
        option.Validators.Add(result =>
        {
            if (result.Tokens.Count == 1
                && int.TryParse(result.Tokens[0].Value, CultureInfo.InvariantCulture, out var number) && number < 1)
                result.AddError($"{name} must be at least 1.");
        });
        return option;
    }
}
