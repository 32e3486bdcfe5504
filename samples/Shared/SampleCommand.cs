using System.CommandLine;
using System.CommandLine.Parsing;

namespace SharedSample;

/// <summary>The command line of a sample: faults of arguments, errors, exit codes.</summary>
public static class SampleCommand
{
    public const int Success = 0;

    /// <summary>The result is wrong, or the run could not go on.</summary>
    public const int Wrong = 1;

    /// <summary>Wrong arguments; nothing was started.</summary>
    public const int Usage = 2;

    /// <summary>Ended by Ctrl-C, as shells expect it.</summary>
    public const int Stopped = 130;

    // A cluster of processes ends within it.
    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(40);

    /// <param name="isTold">Exceptions whose message is all that a user needs.</param>
    public static async Task<int> InvokeAsync(
        RootCommand root, string[] args, TextWriter errors, Predicate<Exception> isTold)
    {
        ArgumentNullException.ThrowIfNull(root);
        ArgumentNullException.ThrowIfNull(errors);
        ParseResult parse = root.Parse(args);
        if (parse.Errors.Count > 0)
        {
            foreach (ParseError error in parse.Errors) await errors.WriteLineAsync($"error: {error.Message}");
            await errors.WriteLineAsync("Try --help.");
            return Usage;
        }

        try
        {
            return await parse.InvokeAsync(new InvocationConfiguration
            {
                EnableDefaultExceptionHandler = false,
                ProcessTerminationTimeout = s_patience,
            });
        }
        catch (OperationCanceledException)
        {
            return Stopped;
        }
        catch (Exception e) when (isTold(e))
        {
            await errors.WriteLineAsync($"error: {e.Message}");
            return Wrong;
        }
    }

    /// <summary>The option of how many processes are stopped and come back.</summary>
    /// <param name="description">Without the system and the default, which are added.</param>
    public static Option<int> Stops(string description)
    {
        Option<int> stops = Count(
            "--stops", 0, $"{description} On Linux; default 1 there.", OperatingSystem.IsLinux() ? 1 : 0);
        stops.Validators.Add(result =>
        {
            if (result.GetValue(stops) > 0 && !OperatingSystem.IsLinux()) result.AddError("--stops needs Linux.");
        });
        return stops;
    }

    /// <summary>An option that is a number.</summary>
    public static Option<int> Count(string name, int least, string description, int usual)
    {
        var count = new Option<int>(name) { Description = description, HelpName = "N" };
        count.DefaultValueFactory = _ => usual;
        count.Validators.Add(result =>
        {
            if (result.GetValue(count) < least) result.AddError($"{name} must be at least {least}.");
        });
        return count;
    }
}
