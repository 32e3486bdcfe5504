using System.CommandLine.Parsing;
using System.Globalization;
using System.Net;

namespace Corfu.Cli;

/// <summary>Options and arguments that several commands have.</summary>
internal static class CommonOptions
{
    public static Option<string> ConnectOption() => new("--connect", "-c")
    {
        Description = "The cluster's connection string, as 'cluster up' prints it.",
        HelpName = "corfu://HOST:PORT,...",
        Required = true,
    };

    /// <param name="usual">Port 0: a free one, and the address is printed.</param>
    public static Option<IPEndPoint> ListenOption(IPEndPoint usual) => new("--listen", "-l")
    {
        Description = "Address of this machine to listen at; port 0 takes a free one.",
        HelpName = "IP:PORT",
        DefaultValueFactory = _ => usual,
        CustomParser = result =>
        {
            var text = result.Tokens[0].Value;
            var numeric = text.Replace("localhost", "127.0.0.1", StringComparison.Ordinal);
            if (numeric.Contains(':', StringComparison.Ordinal) && IPEndPoint.TryParse(numeric, out var at)) return at;
            result.AddError($"'{text}' is no address and port, as 127.0.0.1:{(usual.Port == 0 ? 8080 : usual.Port)}.");
            return null;
        },
    };

    public static Argument<LogPosition> PositionArgument(string description) => new("position")
    {
        Description = description,
        CustomParser = result =>
        {
            var text = result.Tokens[0].Value;
            if (LogPosition.TryParse(text, out var position)) return position;
            result.AddError($"'{text}' is no position: a number, or epoch and number as in e5:1042.");
            return default;
        },
    };

    public static Option<LogPosition?> PositionOption(string name, string description) => new(name)
    {
        Description = description,
        HelpName = "P",
        CustomParser = result =>
        {
            var text = result.Tokens[0].Value;
            if (LogPosition.TryParse(text, out var position)) return position;
            result.AddError($"'{text}' is no position: a number, or epoch and number as in e5:1042.");
            return null;
        },
    };

    public static Option<DirectoryInfo> FolderOption(string name, string description) => new(name)
    {
        Description = description,
        HelpName = "DIR",
        Required = true,
    };

    /// <summary>A whole number; others are refused when the command line is read.</summary>
    public static Option<int> NumberOption(string name, string description, int usual, int max = int.MaxValue)
    {
        var option = new Option<int>(name)
        {
            Description = description,
            HelpName = "N",
            DefaultValueFactory = _ => usual,
        };
        option.Validators.Add(result =>
        {
            // The parser itself reports what is not a number.
            var isNumber = int.TryParse(result.Tokens.SingleOrDefault()?.Value, CultureInfo.InvariantCulture,
                out var number);
            if (isNumber && (number < 1 || number > max))
                result.AddError($"{name} must be {(max == int.MaxValue ? "at least 1" : $"between 1 and {max}")}.");
        });
        return option;
    }

    public static Option<StreamId[]> StreamsOption(string description) => new("--stream", "-s")
    {
        Description = description,
        HelpName = "NAME|ID",
        DefaultValueFactory = _ => [],
        CustomParser = result => [.. result.Tokens.Select(token => Stream(token.Value, result)).Distinct()],
    };

    public static Option<StreamId?> StreamOption(string description) => new("--stream", "-s")
    {
        Description = description,
        HelpName = "NAME|ID",
        CustomParser = result => Stream(result.Tokens[0].Value, result),
    };

    public static Option<DirectoryInfo> DirectoryOption(string description = "The cluster's folder.")
    {
        var option = FolderOption("--dir", description);
        option.Aliases.Add("-d");
        return option;
    }

    public static Option<bool> JsonOption() => new("--json") { Description = "Print JSON instead of text." };

    // Digits are a stream's id, anything else the name of a raw stream.
    private static StreamId Stream(string text, ArgumentResult result)
    {
        if (ulong.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out var id)) return new StreamId(id);
        if (!text.All(char.IsAsciiDigit)) return StreamId.FromName(text);
        result.AddError($"'{text}' is no stream: a name, or a number below 2^64.");
        return default;
    }
}
